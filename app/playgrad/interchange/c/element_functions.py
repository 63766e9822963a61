"""C: sums, rescaling, tables and softmax."""

ELEMENTS = {
    "add": """
static void add(int32_t size, const int8_t *a, const int8_t *b, int32_t a_zero_point,
                int32_t b_zero_point, int32_t a_multiplier, int32_t b_multiplier, int32_t shift,
                int32_t zero_point, int32_t low, int32_t high, int8_t *y)
{
    int32_t i;
    for (i = 0; i < size; i++) {
        int64_t sum = (int64_t)(a[i] - a_zero_point) * a_multiplier;
        sum += (int64_t)(b[i] - b_zero_point) * b_multiplier;
        y[i] = clamp(shift_right(sum, shift) + zero_point, low, high);
    }
}
""",
    "rescale": """
static void rescale(int32_t size, const int8_t *x, int32_t x_zero_point, int32_t multiplier,
                    int32_t shift, int32_t zero_point, int32_t low, int32_t high, int8_t *y)
{
    int32_t i;
    for (i = 0; i < size; i++) {
        int64_t scaled = shift_right((int64_t)(x[i] - x_zero_point) * multiplier, shift);
        y[i] = clamp(scaled + zero_point, low, high);
    }
}
""",
    "lookup": """
static void lookup(int32_t size, const int8_t *table, const int8_t *x, int8_t *y)
{
    int32_t i;
    for (i = 0; i < size; i++) {
        y[i] = table[x[i] + 128];
    }
}
""",
    "softmax": """
static void softmax(int32_t rows, int32_t size, const int32_t *table, const int8_t *x, int8_t *y)
{
    for (; rows > 0; rows--) {
        int32_t i, high = -128;
        uint32_t sum = 0;
        for (i = 0; i < size; i++) {
            high = x[i] > high ? x[i] : high;
        }
        for (i = 0; i < size; i++) {
            sum += (uint32_t)table[x[i] - high + 255];
        }
        for (i = 0; i < size; i++) {
            uint32_t share = ((uint32_t)table[x[i] - high + 255] * 256 + sum / 2) / sum;
            y[i] = clamp((int64_t)share - 128, -128, 127);
        }
        x += size;
        y += size;
    }
}
""",
}
