import { baseName } from "@virtual-workspaces/apimachinery";
import { UsageError } from "../../usage.ts";
import { known } from "../answers.ts";
import { note, say, type WsCommand } from "../command.ts";
import { LOGICAL_CLUSTERS, MOUNTS, type Workspace } from "../kinds.ts";
import { placeOf } from "../path.ts";
import type { Session } from "../session.ts";
import { type Branch, drawn } from "../tree/draw.ts";
import { problemsIn, type TreeNode } from "../tree/node.ts";
import { treeAt } from "../tree/read.ts";
import { useWorkspace } from "./use.ts";

export const tree: WsCommand = {
  usage: "tree [-f | --full] [--wide | -i | --interactive] [-w <workspace>]",
  flags: ["full", "wide", "interactive", "workspace"],
  words: [0, 0],
  async run(session, _words, { full = false, wide = false, interactive = false, workspace }) {
    if (wide && interactive)
      throw new UsageError("--wide and -i: give one of them, -i shows phases and mounts by itself");
    if (placeOf(session.url) === undefined) {
      say(`current context URL ${JSON.stringify(session.url)} does not point directly to a kcp workspace`);
      return;
    }
    if (interactive) {
      const { browse } = await import("../tree/interactive/browse.ts");
      const chosen = await browse({ session, path: session.pathOf(workspace), full });
      if (chosen !== undefined) await useWorkspace(session, chosen);
      return;
    }
    const root = await treeAt(session, session.pathOf(workspace));
    // kcp ends with an empty line.
    say(`${drawn(await branchOf(root, { session, full, wide }))}\n`);
    for (const { path, problem } of problemsIn(root)) note(`${path} cannot be listed: ${problem}`);
  },
};

interface Shown {
  readonly session: Session;
  readonly full: boolean;
  readonly wide: boolean;
}

async function branchOf(node: TreeNode, shown: Shown): Promise<Branch> {
  const name = shown.full ? node.path : baseName(node.path);
  const branches = await Promise.all(node.children.map((child) => branchOf(child, shown)));
  const label = node.workspace?.spec.mount === undefined ? name : `${name} [m]`;
  return { label, columns: shown.wide ? await columnsOf(node, shown) : [], branches };
}

/** The phases that kcp shows, and of a mount what it is and its type. */
async function columnsOf({ path, workspace }: TreeNode, { session }: Shown): Promise<readonly string[]> {
  const phase = `ws=${workspace?.status?.phase || "-"}`;
  const mount = workspace?.spec.mount;
  if (workspace === undefined || mount === undefined) return [phase, `lc=${await phaseAt(session, path)}`];
  const type = await mountType(session, path, workspace);
  return [phase, `mount=${mount.ref.kind}/${mount.ref.name}${type === undefined ? "" : ` (${type})`}`];
}

async function phaseAt(session: Session, path: string): Promise<string> {
  const found = await known(session.client(path).resource(LOGICAL_CLUSTERS).get("cluster", session.patience));
  return found?.status?.phase || "Unknown";
}

/** Of what keeps the contract of mounts alone nothing more is known than where it is. */
async function mountType(session: Session, path: string, { spec }: Workspace): Promise<string | undefined> {
  const { apiVersion = "", kind, name = "" } = spec.mount?.ref ?? {};
  if (kind !== MOUNTS.kind || !apiVersion.startsWith(`${MOUNTS.group}/`)) return undefined;
  const around = path.slice(0, path.lastIndexOf(":"));
  return (await known(session.client(around).resource(MOUNTS).get(name, session.patience)))?.spec.type;
}
