import { baseName } from "@virtual-workspaces/apimachinery";
import { UsageError } from "../process/failure.ts";
import { enter } from "./enter.ts";
import type { WsCommand } from "./flags.ts";
import { LOGICAL_CLUSTERS, MOUNTS, type Workspace } from "./session/kinds.ts";
import { note, say } from "./session/output.ts";
import { parseWorkspaceUrl } from "./session/path.ts";
import { known } from "./session/requests.ts";
import type { Session } from "./session/session.ts";
import { problemsIn, readTree, type TreeNode } from "./tree/nodes.ts";
import { useWorkspace } from "./use.ts";

export const tree: WsCommand = {
  words: [0, 0],
  async run(session, _words, { full = false, wide = false, interactive = false, workspace }) {
    if (wide && interactive)
      throw new UsageError("--wide does not work with --interactive, which shows phases and mounts anyway: remove it");
    if (parseWorkspaceUrl(session.url) === undefined) {
      say(`current context URL ${JSON.stringify(session.url)} does not point directly to a kcp workspace`);
      return;
    }
    if (interactive) {
      const { browse } = await import("./tree/browse.ts");
      const chosen = await browse({ session, path: session.pathOf(workspace), full });
      if (chosen !== undefined) await useWorkspace(session, chosen);
      return;
    }
    const root = await readTree(session, session.pathOf(workspace));
    // An empty tree does not tell whether the workspace exists, or denies access.
    if (root.children.length === 0) await enter(session, root.path);
    // kcp prints a final empty line.
    say(`${drawTree(await branchOf(root, { session, full, wide }))}\n`);
    for (const { path, problem } of problemsIn(root)) note(`${path} cannot be listed: ${problem}`);
  },
};

interface TreeOptions {
  readonly session: Session;
  readonly full: boolean;
  readonly wide: boolean;
}

async function branchOf(node: TreeNode, shown: TreeOptions): Promise<Branch> {
  const name = shown.full ? node.path : baseName(node.path);
  const branches = await Promise.all(node.children.map((child) => branchOf(child, shown)));
  const mark = node.denied ? " [no access]" : node.workspace?.spec.mount === undefined ? "" : " [m]";
  return { label: `${name}${mark}`, columns: shown.wide ? await columnsOf(node, shown) : [], branches };
}

/** Returns the phases that kcp shows, and the kind and type of a mount. */
async function columnsOf({ path, workspace, denied }: TreeNode, { session }: TreeOptions): Promise<readonly string[]> {
  if (denied) return ["ws=-", "lc=-"];
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

/** Returns the type of a mount, which objects have that implement more than the contract of mounts. */
async function mountType(session: Session, path: string, { spec }: Workspace): Promise<string | undefined> {
  const { apiVersion = "", kind, name = "" } = spec.mount?.ref ?? {};
  if (kind !== MOUNTS.kind || !apiVersion.startsWith(`${MOUNTS.group}/`)) return undefined;
  const around = path.slice(0, path.lastIndexOf(":"));
  return (await known(session.client(around).resource(MOUNTS).get(name, session.patience)))?.spec.type;
}

/** A line of a tree: name, columns, and branches. */
interface Branch {
  readonly label: string;
  readonly columns: readonly string[];
  readonly branches: readonly Branch[];
}

/** Draws a tree like kcp (xlab/treeprint), and aligns columns like Go's tabwriter, with two spaces between. */
export function drawTree(root: Branch): string {
  const lines = [{ text: ".", columns: [] as readonly string[] }, ...linesOf([root], "")];
  const widths: number[] = [];
  for (const { text, columns } of lines.filter((line) => line.columns.length > 0))
    for (const [at, cell] of [text, ...columns].entries()) widths[at] = Math.max(widths[at] ?? 0, [...cell].length);
  return lines.map(({ text, columns }) => row([text, ...columns], widths)).join("\n");
}

interface Line {
  readonly text: string;
  readonly columns: readonly string[];
}

function linesOf(branches: readonly Branch[], indent: string): Line[] {
  return branches.flatMap(({ label, columns, branches: below }, at) => {
    const last = at === branches.length - 1;
    const line = { text: `${indent}${last ? "└── " : "├── "}${label}`, columns };
    return [line, ...linesOf(below, `${indent}${last ? "    " : "│   "}`)];
  });
}

function row(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, at) => (at === cells.length - 1 ? cell : cell + " ".repeat((widths[at] ?? 0) - [...cell].length + 2)))
    .join("");
}
