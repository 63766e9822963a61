/** What a browser says about itself and about its GPU. */

/** @import { SpeedAdapter } from "../../../engine/messages.js" */

/** The limits of an adapter that decide what can be trained on it, and how fast. */
const LIMITS = /** @type {const} */ ([
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxStorageBuffersPerShaderStage",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupsPerDimension",
]);
const SUBGROUPS = /** @type {const} */ (["subgroupMinSize", "subgroupMaxSize"]);

/** The names of browsers in their user agents, the more particular first. */
const AGENTS = /(Edg|OPR|Firefox|Chrome|Version)\/([\d.]+)/;
/** @type {Record<string, string>} */
const NAMES = { Edg: "Edge", OPR: "Opera", Version: "Safari" };

/**
 * The name of a browser, its version and its system: "Chrome 156 on Linux".
 * @param {{userAgent: string, userAgentData?: any, platform?: string}} agent `navigator`
 */
export function browserOf({ userAgent, userAgentData, platform }) {
  const brands = /** @type {{brand: string, version: string}[]} */ (userAgentData?.brands ?? []);
  const real = brands.filter(({ brand }) => !/not.*brand/i.test(brand));
  const named = real.find(({ brand }) => brand !== "Chromium") ?? real[0];
  const system = userAgentData?.platform || platform || "an unknown system";
  if (named) return `${named.brand} ${named.version} on ${system}`;
  const order = ["Edg", "OPR", "Firefox", "Chrome", "Version"];
  const found = [...userAgent.matchAll(new RegExp(AGENTS, "g"))].sort(
    (one, other) => order.indexOf(one[1]) - order.indexOf(other[1]),
  )[0];
  return found
    ? `${NAMES[found[1]] ?? found[1]} ${found[2]} on ${system}`
    : `unknown, on ${system}`;
}

/**
 * The GPU as the browser describes it; null if it offers none.
 * @param {GPU | undefined} gpu `navigator.gpu` @param {boolean} isSoftware
 * @returns {Promise<SpeedAdapter | null>}
 */
export async function adapterOf(gpu, isSoftware) {
  const adapter = await gpu?.requestAdapter({ powerPreference: "high-performance" });
  if (!gpu || !adapter) return null;
  const { vendor, architecture, device, description } = adapter.info;
  /** @type {Record<string, number>} */
  const limits = {};
  for (const name of LIMITS) limits[name] = adapter.limits[name];
  for (const name of SUBGROUPS) {
    const size = Reflect.get(adapter.info, name);
    if (typeof size === "number") limits[name] = size;
  }
  const features = [...adapter.features, ...(gpu.wgslLanguageFeatures ?? [])].sort();
  return { vendor, architecture, device, description, software: isSoftware, features, limits };
}
