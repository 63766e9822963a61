/** With thousands separators: apart from the other formats, because messages have numbers in them, and formats have words. @param {number} value */
export function count(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}
