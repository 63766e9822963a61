/** Save bytes as a file. @param {string} filename @param {Uint8Array} bytes */
export function download(filename, bytes) {
  const blob = new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (bytes)], {
    type: "application/octet-stream",
  });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = filename;
  document.body.append(link);
  link.click();
  link.remove();
  // A download that has begun keeps the blob.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
