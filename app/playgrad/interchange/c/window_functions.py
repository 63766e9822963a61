"""C: pooling."""

WINDOWS = {
    "pooling": """
typedef struct {
    int32_t height, width, channels, out_height, out_width;
    int32_t window_height, window_width, stride_y, stride_x, top, left;
} pooling;
""",
    "max_pool": """
static void max_pool(const pooling *v, const int8_t *x, int8_t *y)
{
    int32_t oy, ox, channel, iy, ix;
    for (oy = 0; oy < v->out_height; oy++) {
        for (ox = 0; ox < v->out_width; ox++) {
            int32_t top = oy * v->stride_y - v->top, left = ox * v->stride_x - v->left;
            for (channel = 0; channel < v->channels; channel++) {
                int8_t best = -128;
                for (iy = top; iy < top + v->window_height; iy++) {
                    for (ix = left; ix < left + v->window_width; ix++) {
                        if (iy >= 0 && iy < v->height && ix >= 0 && ix < v->width) {
                            int8_t value = x[(iy * v->width + ix) * v->channels + channel];
                            best = value > best ? value : best;
                        }
                    }
                }
                *y++ = best;
            }
        }
    }
}
""",
    "avg_pool": """
static void avg_pool(const pooling *v, int32_t input_zero_point, const int32_t *multipliers,
                     const uint8_t *shifts, int32_t zero_point, int32_t low, int32_t high,
                     const int8_t *x, int8_t *y)
{
    int32_t oy, ox, channel, iy, ix;
    for (oy = 0; oy < v->out_height; oy++) {
        for (ox = 0; ox < v->out_width; ox++) {
            int32_t top = oy * v->stride_y - v->top, left = ox * v->stride_x - v->left;
            for (channel = 0; channel < v->channels; channel++) {
                int32_t sum = 0, outside = v->window_height * v->window_width;
                for (iy = top; iy < top + v->window_height; iy++) {
                    for (ix = left; ix < left + v->window_width; ix++) {
                        if (iy >= 0 && iy < v->height && ix >= 0 && ix < v->width) {
                            sum += x[(iy * v->width + ix) * v->channels + channel];
                            sum -= input_zero_point;
                            outside--;
                        }
                    }
                }
                *y++ = clamp(shift_right((int64_t)sum * multipliers[outside], shifts[outside])
                             + zero_point, low, high);
            }
        }
    }
}
""",
}
