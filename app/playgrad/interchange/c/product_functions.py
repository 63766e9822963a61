"""C: matrix products and convolutions, with plain or packed kernels."""

PRODUCTS = {
    "cursor": """
/* The place in the kernel from which the weights of the next unit are read. */
typedef struct {
    const uint8_t *next;
    const int8_t *next_plain;
    const int8_t *codebook;
    uint32_t bits;     /* read, but not used yet */
    uint32_t bit_count;
} cursor;
""",
    "layer": """
struct layer;

typedef int32_t dot_function(const struct layer *, cursor *, const int8_t *x, int32_t acc);

typedef struct layer {
    dot_function *dot;
    const int8_t *plain;     /* the kernel, */
    const uint8_t *packed;   /* or the packed kernel */
    const int8_t *codebook;  /* the values of its indices; without one, they are the values */
    int32_t stride;          /* a unit has so many values of the codebook; 0: it has all */
    uint32_t width;          /* bits of an index */
    int32_t size;            /* weights of a unit, which are stored one after the other */
    int32_t units;
    const int32_t *bias;
    const int32_t *multiplier;
    const uint8_t *shift;
    int32_t zero_point, low, high;
} layer;
""",
    "take": """
static uint32_t take(cursor *c, uint32_t width)
{
    uint32_t value;
    while (c->bit_count < width) {
        c->bits |= (uint32_t)*c->next++ << c->bit_count;
        c->bit_count += 8;
    }
    value = c->bits & (((uint32_t)1 << width) - 1);
    c->bits >>= width;
    c->bit_count -= width;
    return value;
}
""",
    "weight": """
static int32_t weight(const int8_t *codebook, uint32_t index)
{
    return codebook ? codebook[index] : index < 128 ? (int32_t)index : (int32_t)index - 256;
}
""",
    "dot_plain": """
static int32_t dot_plain(const layer *l, cursor *c, const int8_t *x, int32_t acc)
{
    int32_t i;
    for (i = 0; i < l->size; i++) {
        acc += (int32_t)x[i] * *c->next_plain++;
    }
    return acc;
}
""",
    "dot_indices": """
static int32_t dot_indices(const layer *l, cursor *c, const int8_t *x, int32_t acc)
{
    int32_t i;
    for (i = 0; i < l->size; i++) {
        acc += x[i] * weight(c->codebook, take(c, l->width));
    }
    return acc;
}
""",
    "dot_sparse": """
/* One bit for each weight, and an index behind it unless the weight is 0. */
static int32_t dot_sparse(const layer *l, cursor *c, const int8_t *x, int32_t acc)
{
    int32_t i;
    for (i = 0; i < l->size; i++) {
        if (take(c, 1)) {
            acc += x[i] * weight(c->codebook, take(c, l->width));
        }
    }
    return acc;
}
""",
    "start": """
static cursor start(const layer *l)
{
    cursor c = {0, 0, 0, 0, 0};
    c.next = l->packed;
    c.next_plain = l->plain;
    c.codebook = l->codebook;
    return c;
}
""",
    "products": """
static void products(const layer *l, cursor *c, int32_t first, int32_t count,
                     const int8_t *x, int8_t *y)
{
    int32_t unit;
    for (unit = first; unit < first + count; unit++) {
        int32_t acc = l->dot(l, c, x, l->bias[unit]);
        int64_t scaled = shift_right((int64_t)acc * l->multiplier[unit], l->shift[unit]);
        y[unit] = clamp(scaled + l->zero_point, l->low, l->high);
        if (l->stride) {
            c->codebook += l->stride;
        }
    }
}
""",
    "matmul": """
static void matmul(const layer *l, int32_t rows, const int8_t *x, int8_t *y)
{
    for (; rows > 0; rows--) {
        cursor c = start(l);
        products(l, &c, 0, l->units, x, y);
        x += l->size;
        y += l->units;
    }
}
""",
    "convolution": """
typedef struct {
    layer units;
    int32_t height, width, channels, groups;    /* of the input */
    int32_t out_height, out_width;
    int32_t kernel_height, kernel_width;
    int32_t stride_y, stride_x, top, left, dilation_y, dilation_x;
    int32_t spread_y, spread_x;                 /* input pixels are so far apart */
    int8_t pad_value;
} convolution;
""",
    "pixel": """
/* The index of the input pixel at a place that may lie between the pixels or outside; then -1. */
static int32_t pixel(int32_t place, int32_t size, int32_t spread)
{
    return place < 0 || place > (size - 1) * spread || place % spread ? -1 : place / spread;
}
""",
    "conv2d": """
static void conv2d(const convolution *v, const int8_t *x, int8_t *patch, int8_t *y)
{
    int32_t depth = v->channels / v->groups, count = v->units.units / v->groups;
    int32_t oy, ox, group, ky, kx, i;
    for (oy = 0; oy < v->out_height; oy++) {
        for (ox = 0; ox < v->out_width; ox++) {
            cursor c = start(&v->units);
            for (group = 0; group < v->groups; group++) {
                int8_t *p = patch;
                for (ky = 0; ky < v->kernel_height; ky++) {
                    int32_t iy = pixel(oy * v->stride_y + ky * v->dilation_y - v->top,
                                       v->height, v->spread_y);
                    for (kx = 0; kx < v->kernel_width; kx++) {
                        int32_t ix = pixel(ox * v->stride_x + kx * v->dilation_x - v->left,
                                           v->width, v->spread_x);
                        if (iy < 0 || ix < 0) {
                            for (i = 0; i < depth; i++) {
                                *p++ = v->pad_value;
                            }
                        } else {
                            const int8_t *from = x + (iy * v->width + ix) * v->channels;
                            from += group * depth;
                            for (i = 0; i < depth; i++) {
                                *p++ = *from++;
                            }
                        }
                    }
                }
                products(&v->units, &c, group * count, count, patch, y);
            }
            y += v->units.units;
        }
    }
}
""",
}
