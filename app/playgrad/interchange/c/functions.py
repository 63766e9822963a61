"""The functions in C that a network calls: the integer arithmetic of ``ops/quantized``.

They are C99 without undefined or implementation-defined behaviour: negative numbers are not
shifted, nothing wraps, and int may have 16 bits. A file has only the functions that it calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_ARITHMETIC = {
    "floor_divide": """
static int64_t floor_divide(int64_t value, int64_t divisor)
{
    return value >= 0 ? value / divisor : -1 - (-1 - value) / divisor;
}
""",
    "shift_right": """
/* value / 2^shift, rounded to the nearest integer, and halves up. */
static int64_t shift_right(int64_t value, int32_t shift)
{
    value += (int64_t)1 << (shift - 1);
    return value >= 0 ? value >> shift : -1 - ((-1 - value) >> shift);
}
""",
    "clamp": """
static int8_t clamp(int64_t value, int32_t low, int32_t high)
{
    return (int8_t)(value < low ? low : value > high ? high : value);
}
""",
}

_PRODUCTS = {
    "cursor": """
/* The place in the kernel from which the weights of the next unit are read. */
typedef struct {
    const uint8_t *next;
    const int8_t *next_plain;
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
        acc += x[i] * weight(l->codebook, take(c, l->width));
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
            acc += x[i] * weight(l->codebook, take(c, l->width));
        }
    }
    return acc;
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
    }
}
""",
    "matmul": """
static void matmul(const layer *l, int32_t rows, const int8_t *x, int8_t *y)
{
    for (; rows > 0; rows--) {
        cursor c = {0, 0, 0, 0};
        c.next = l->packed;
        c.next_plain = l->plain;
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
            cursor c = {0, 0, 0, 0};
            c.next = v->units.packed;
            c.next_plain = v->units.plain;
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

_ELEMENTS = {
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

_WINDOWS = {
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
static void avg_pool(const pooling *v, const int8_t *x, int8_t *y)
{
    int32_t oy, ox, channel, iy, ix;
    for (oy = 0; oy < v->out_height; oy++) {
        for (ox = 0; ox < v->out_width; ox++) {
            int32_t top = oy * v->stride_y - v->top, left = ox * v->stride_x - v->left;
            for (channel = 0; channel < v->channels; channel++) {
                int64_t sum = 0, count = 0;
                for (iy = top; iy < top + v->window_height; iy++) {
                    for (ix = left; ix < left + v->window_width; ix++) {
                        if (iy >= 0 && iy < v->height && ix >= 0 && ix < v->width) {
                            sum += x[(iy * v->width + ix) * v->channels + channel];
                            count++;
                        }
                    }
                }
                *y++ = (int8_t)floor_divide(2 * sum + count, 2 * count);
            }
        }
    }
}
""",
}

_MOVES = {
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
        cursor c = {0, 0, 0, 0};
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
    int32_t at[@RANK@] = {0}, axis = 0;
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

MAX_RANK = 8
_FUNCTIONS = {**_ARITHMETIC, **_PRODUCTS, **_ELEMENTS, **_WINDOWS, **_MOVES}


def functions(called: Iterable[str]) -> str:
    """Return the text of the functions and types with these names, and of those that they use."""
    needed: set[str] = set()
    stack = list(called)
    while stack:
        name = stack.pop()
        if name not in needed:
            needed.add(name)
            words = set(re.findall(r"\w+", re.sub(r"/\*.*?\*/", "", _FUNCTIONS[name], flags=re.S)))
            stack += [other for other in _FUNCTIONS if other in words]
    texts = (text for name, text in _FUNCTIONS.items() if name in needed)
    return "".join(texts).replace("@RANK@", str(MAX_RANK))
