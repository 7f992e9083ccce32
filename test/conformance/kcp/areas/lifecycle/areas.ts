// Areas of both views of waiting workspaces.
import { INITIALIZING, TERMINATING } from "../../lifecycle.ts";
import { area } from "../../step.ts";
import { access } from "./access.ts";
import { bindings } from "./bindings.ts";
import { content } from "./content.ts";
import { discovery } from "./discovery.ts";
import { objects } from "./objects.ts";
import { status } from "./status.ts";

const SUBJECTS = { discovery, objects, status, content, access };

export const LIFECYCLE = [
  ...[INITIALIZING, TERMINATING].flatMap((phase) =>
    Object.entries(SUBJECTS).map(([name, cases]) => area(`${phase.is}-${name}`, cases(phase))),
  ),
  area("initializing-bindings", bindings),
];
