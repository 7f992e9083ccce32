// Kinds that both servers serve.

import { CELLED } from "./kinds/celled.ts";
import type { DifferentialKind } from "./kinds/kind.ts";
import { LISTED } from "./kinds/listed.ts";
import { MACHINE, WAITER } from "./kinds/machine.ts";
import { CARD, DUAL, PLAIN } from "./kinds/plain.ts";
import { BOUNDED, FORMATTED, RICH } from "./kinds/rich.ts";
import { RULED } from "./kinds/ruled.ts";

export const KINDS: readonly DifferentialKind[] = [
  PLAIN,
  CARD,
  DUAL,
  MACHINE,
  WAITER,
  RICH,
  FORMATTED,
  BOUNDED,
  LISTED,
  RULED,
  ...CELLED,
];
