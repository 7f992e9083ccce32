import type { FRONT_PROXY } from "../front-proxy/flags.ts";
import type { SERVE } from "../serve/flags.ts";
import type { START } from "../start/flags.ts";

/** The name of a flag that counts, for one command or another. */
export type FlagName = keyof typeof START.taken | keyof typeof SERVE.taken | keyof typeof FRONT_PROXY.taken;
