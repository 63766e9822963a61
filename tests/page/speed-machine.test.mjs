import assert from "node:assert/strict";
import { test } from "node:test";
import { systemOf } from "../../static/engine/adapter.js";
import { adapterOf, browserOf } from "../../static/js/panels/lab/speed-machine.js";

const LIMITS = {
  maxBufferSize: 1,
  maxStorageBufferBindingSize: 2,
  maxStorageBuffersPerShaderStage: 3,
  maxComputeWorkgroupStorageSize: 4,
  maxComputeInvocationsPerWorkgroup: 5,
  maxComputeWorkgroupsPerDimension: 6,
  maxTextureDimension1D: 7,
};

test("a browser is named by its brand, else by its user agent", () => {
  const chrome = {
    userAgent: "",
    userAgentData: {
      brands: [
        { brand: "Not;A=Brand", version: "8" },
        { brand: "Chromium", version: "156" },
        { brand: "Google Chrome", version: "156" },
      ],
      platform: "Windows",
    },
  };
  assert.equal(browserOf(chrome), "Google Chrome 156 on Windows");
  const safari =
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15";
  assert.equal(browserOf({ userAgent: safari, platform: "MacIntel" }), "Safari 26.1 on MacIntel");
  const edge = "Mozilla/5.0 Chrome/156.0.0.0 Safari/537.36 Edg/156.0.1";
  assert.equal(browserOf({ userAgent: edge, platform: "Win32" }), "Edge 156.0.1 on Win32");
  const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0";
  assert.equal(browserOf({ userAgent: firefox }), "Firefox 150.0 on an unknown system");
  assert.equal(browserOf({ userAgent: "curl" }), "unknown, on an unknown system");
});

test("an adapter is described with its own limits and the sizes of its subgroups", async () => {
  const info = {
    vendor: "a",
    architecture: "b",
    device: "",
    description: "c",
    subgroupMinSize: 32,
    subgroupMaxSize: 64,
  };
  const adapter = { info, limits: LIMITS, features: new Set(["subgroups", "shader-f16"]) };
  const gpu = { requestAdapter: async () => adapter, wgslLanguageFeatures: new Set(["packed"]) };
  const described = await adapterOf(/** @type {any} */ (gpu), false);
  assert.deepEqual(described?.features, ["packed", "shader-f16", "subgroups"]);
  const expected = Object.entries(LIMITS).filter(([name]) => !name.includes("Texture"));
  const subgroups = { subgroupMinSize: 32, subgroupMaxSize: 64 };
  assert.deepEqual(described?.limits, { ...Object.fromEntries(expected), ...subgroups });
  assert.equal(await adapterOf(undefined, false), null);
  assert.equal(
    await adapterOf(/** @type {any} */ ({ requestAdapter: async () => null }), true),
    null,
  );
});

test("the system's interface follows from the name of the system", () => {
  const of = (/** @type {string} */ platform) =>
    systemOf({ userAgent: "", userAgentData: { platform } });
  assert.deepEqual(["Windows", "macOS", "Linux", "Android", "Chrome OS", "Fuchsia"].map(of), [
    "D3D12",
    "Metal",
    "Vulkan",
    "Vulkan",
    "Vulkan",
    "",
  ]);
  const agent = (/** @type {string} */ userAgent) => systemOf({ userAgent });
  assert.equal(agent("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)"), "Metal");
  assert.equal(agent("Mozilla/5.0 (X11; Linux x86_64; rv:150.0)"), "Vulkan");
  assert.equal(agent("Mozilla/5.0 (Windows NT 10.0; Win64; x64)"), "D3D12");
});
