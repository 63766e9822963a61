/** Adapters that compute on the processor, which "auto" and stand-alone pages do without. */

const SOFTWARE = /swiftshader|llvmpipe|lavapipe|basic render|softpipe/i;

/** @param {GPUAdapterInfo} info */
export function isSoftware(info) {
  const { vendor, architecture, description, device: model } = info;
  return (
    info.isFallbackAdapter || SOFTWARE.test([vendor, architecture, model, description].join(" "))
  );
}
