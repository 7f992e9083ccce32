import type { FRONT_PROXY } from "../front-proxy/known-flags.ts";
import type { SERVE } from "../serve/known-flags.ts";
import type { START } from "../start/known-flags.ts";

/** The name of a flag that counts, for one command or another. */
export type FlagName = keyof typeof START.taken | keyof typeof SERVE.taken | keyof typeof FRONT_PROXY.taken;
