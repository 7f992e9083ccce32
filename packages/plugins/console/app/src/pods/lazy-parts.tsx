import type { ObjectAddress } from "../api/objects.ts";
import type { WholeObject } from "../object/live-object.ts";
import { Lazy } from "../ui/lazy.tsx";
import type { PodPartName } from "./pod.ts";

interface PodPartProps {
  readonly address: ObjectAddress;
  readonly object: WholeObject;
}

const LOAD = {
  logs: () => import("./logs/logs-tab.tsx").then((module) => module.LogsTab),
  terminal: () => import("./terminal/terminal-tab.tsx").then((module) => module.TerminalTab),
  ports: () => import("./ports-tab.tsx").then((module) => module.PortsTab),
} as const;

/** A part of the page of a pod. Its program is loaded when it is first shown. */
export function PodPart({ part, address, object }: PodPartProps & { readonly part: PodPartName }) {
  return <Lazy key={`${part} ${JSON.stringify(address)}`} load={LOAD[part]} with={{ address, object }} />;
}
