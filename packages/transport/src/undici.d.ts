// The one file of undici that is used: its root loads fetch, WebSocket and mocks too (docs/decisions/0013).
declare module "undici/lib/dispatcher/client.js" {
  import { Client } from "undici";

  // biome-ignore lint/style/noDefaultExport: what a CommonJS file gives
  export { Client as default };
}
