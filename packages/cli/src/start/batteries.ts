import type { PlainUser } from "@virtual-workspaces/workspace-server";
import type { Flags } from "../flags/flags.ts";
import { UsageError } from "../usage.ts";
import { DEMO_USERS } from "./demo/place.ts";

const DEFAULT_BATTERIES: readonly string[] = ["admin", "workspace-types"];
/** kcp's, and `cluster-proxy`, `demo`, `mounts` and `spaces`. */
const BATTERIES: readonly string[] = [
  ...DEFAULT_BATTERIES,
  "cluster-proxy",
  "demo",
  "metrics-viewer",
  "mounts",
  "spaces",
  "user",
];

/** `--batteries-included`: `+x` and `-x` change what is the default, a plain `x` takes its place. */
export function batteriesOf(flags: Flags): ReadonlySet<string> {
  const given = flags.list("batteries-included");
  const relative = given.filter((name) => /^[+-]/.test(name));
  if (relative.length > 0 && relative.length < given.length)
    throw new UsageError("--batteries-included: write + or - before all names, or before none");
  const unknown = given.map((name) => name.replace(/^[+-]/, "")).find((name) => !BATTERIES.includes(name));
  if (unknown !== undefined)
    throw new UsageError(
      `--batteries-included: unknown battery: ${unknown}. The batteries are ${BATTERIES.join(", ")}`,
    );
  const plain = flags.given(["batteries-included"]).length > 0 && relative.length === 0;
  const all = new Set(plain ? given : DEFAULT_BATTERIES);
  for (const name of relative) {
    if (name.startsWith("+")) all.add(name.slice(1));
    else all.delete(name.slice(1));
  }
  const without = ["user", "demo"].find((name) => all.has(name) && !all.has("admin"));
  if (without !== undefined)
    throw new UsageError(`--batteries-included: battery ${without} enabled which requires admin as well`);
  if (all.has("metrics-viewer"))
    throw new UsageError(
      "--batteries-included: metrics-viewer is not implemented: there are no metrics to view; leave it out",
    );
  if (!all.has("workspace-types"))
    throw new UsageError("--batteries-included: the types are always there: name workspace-types too");
  return all;
}

/** Who comes with batteries, besides administrators. */
export function usersOf(batteries: ReadonlySet<string>): readonly PlainUser[] {
  return [
    ...(batteries.has("user") ? [{ name: "user", workspace: "root" }] : []),
    ...(batteries.has("demo") ? DEMO_USERS : []),
  ];
}
