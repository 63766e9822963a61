/** The engine of the page, with its Python. */

import { EngineClient } from "./engine-client.js";
import { receive } from "./engine-events.js";

export const client = new EngineClient(receive);
