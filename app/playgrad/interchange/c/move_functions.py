"""C: elements in other places."""

MAX_RANK = 8
"""Axes that ``transpose`` can permute."""

MOVES = {
    "gather": """
/* An index outside the table counts as the nearest one inside. */
static void gather(int32_t count, int32_t rows, int32_t size, const int8_t *table,
                   const int32_t *indices, int8_t *y)
{
    for (; count > 0; count--) {
        int32_t i, row = *indices++;
        const int8_t *from;
        row = row < 0 ? 0 : row < rows ? row : rows - 1;
        from = table + row * size;
        for (i = 0; i < size; i++) {
            *y++ = *from++;
        }
    }
}
""",
    "gather_indices": """
/* As gather, from a table of indices of a codebook. */
static void gather_indices(int32_t count, int32_t rows, int32_t size, const uint8_t *table,
                           const int8_t *codebook, uint32_t width, const int32_t *indices,
                           int8_t *y)
{
    for (; count > 0; count--) {
        int32_t i, row = *indices++;
        uint32_t bit;
        cursor c = {0, 0, 0, 0, 0};
        row = row < 0 ? 0 : row < rows ? row : rows - 1;
        bit = (uint32_t)row * (uint32_t)size * width;
        c.next = table + bit / 8;
        if (bit % 8) {
            (void)take(&c, bit % 8);
        }
        for (i = 0; i < size; i++) {
            *y++ = codebook[take(&c, width)];
        }
    }
}
""",
    "copy_rows": """
/* Copy rows into every `stride`-th byte of y. */
static void copy_rows(int32_t rows, int32_t size, int32_t stride, const int8_t *x, int8_t *y)
{
    for (; rows > 0; rows--) {
        int32_t i;
        for (i = 0; i < size; i++) {
            y[i] = *x++;
        }
        y += stride;
    }
}
""",
    "transpose": """
/* The sizes are of y, the strides are the steps in x along the axes of y. */
static void transpose(int32_t rank, const int32_t *sizes, const int32_t *strides,
                      const int8_t *x, int8_t *y)
{
    int32_t at[8] = {0}, axis = 0;
    while (axis >= 0) {
        *y++ = *x;
        for (axis = rank - 1; axis >= 0; axis--) {
            x += strides[axis];
            if (++at[axis] < sizes[axis]) {
                break;
            }
            x -= strides[axis] * sizes[axis];
            at[axis] = 0;
        }
    }
}
""",
    "upsample": """
static void upsample(int32_t height, int32_t width, int32_t channels, int32_t times_y,
                     int32_t times_x, const int8_t *x, int8_t *y)
{
    int32_t oy, ox, i;
    for (oy = 0; oy < height * times_y; oy++) {
        for (ox = 0; ox < width * times_x; ox++) {
            const int8_t *from = x + (oy / times_y * width + ox / times_x) * channels;
            for (i = 0; i < channels; i++) {
                *y++ = *from++;
            }
        }
    }
}
""",
}
