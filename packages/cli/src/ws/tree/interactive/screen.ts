import { styleText } from "node:util";
import { baseName } from "@virtual-workspaces/apimachinery";
import { printable } from "../../command.ts";
import type { Item, Items } from "./items.ts";

/** What there is to be shown, and how much of it a terminal has room for. */
export interface Shown {
  readonly items: Items;
  /** Of the workspace that one is at; `undefined` while they are being read. */
  readonly details: readonly string[] | undefined;
  /** Whole paths. */
  readonly full: boolean;
  readonly height: number;
}

const TITLE = "kcp Workspaces";
const HELP = "↑/↓: navigate  →/←/Space: expand/collapse  Enter: switch to it  q: quit";
const MORE = "  ...";
/** Title, an empty line, a rule, a heading, an empty line, the help. */
const AROUND = 6;
const FEWEST = 3;

/** The lines of the screen, as many as it has. */
export function screenOf({ items, details, full, height }: Shown): readonly string[] {
  const { rows, at } = items;
  const below = detailLines(at, details);
  const room = Math.max(FEWEST, height - AROUND - Math.min(below.length, Math.floor((height - AROUND) / 2)));
  const tree = windowOf(
    rows.map((row) => line(row, { isHere: row === at, full })),
    rows.indexOf(at),
    room,
  );
  const left = Math.max(0, height - AROUND - tree.length);
  const shownBelow = below.length <= left ? below : [...below.slice(0, Math.max(0, left - 1)), MORE];
  return [
    styleText("bold", TITLE),
    "",
    ...tree,
    styleText("dim", "─".repeat(72)),
    styleText("bold", oneLine(headingOf(at))),
    ...shownBelow.map(oneLine),
    "",
    styleText("dim", HELP),
  ].slice(0, height);
}

/** So many lines around one; dots where there are more. */
function windowOf(lines: readonly string[], at: number, room: number): readonly string[] {
  if (lines.length <= room) return lines;
  const first = Math.min(lines.length - room, Math.max(0, at - Math.floor(room / 2)));
  const shown = lines.slice(first, first + room);
  if (first > 0) shown[0] = MORE;
  if (first + room < lines.length) shown[room - 1] = MORE;
  return shown;
}

function line(row: Item, { isHere, full }: { readonly isHere: boolean; readonly full: boolean }): string {
  const name = full ? row.path : baseName(row.path);
  const mounted = row.workspace?.spec.mount === undefined ? "" : " [m]";
  const problem = row.problem === undefined ? "" : `  cannot be listed: ${row.problem}`;
  const text = `${isHere ? "→ " : "  "}${"  ".repeat(row.depth)}${iconOf(row)}${oneLine(name)}${mounted}`;
  return (isHere ? styleText("inverse", text) : text) + styleText("red", oneLine(problem));
}

function iconOf({ children, isOpen, isLoading, problem, workspace }: Item): string {
  if (isLoading) return "… ";
  if (isOpen) return "▼ ";
  const isLeaf = children?.length === 0 || problem !== undefined;
  // What is in a mount is another's.
  return isLeaf || (children === undefined && workspace?.spec.mount !== undefined) ? "  " : "▶ ";
}

function headingOf({ path, workspace }: Item): string {
  const { spec, status } = workspace ?? {};
  const { kind, name } = spec?.mount?.ref ?? {};
  const mount = kind === undefined ? undefined : `mounted on ${kind}/${name}`;
  return [path, status?.phase, spec?.cluster && `cluster:${spec.cluster}`, mount].filter(Boolean).join("  ");
}

function detailLines({ workspace }: Item, details: readonly string[] | undefined): readonly string[] {
  const message = workspace?.status?.conditions?.find(({ status }) => status === "False")?.message;
  return [...(message === undefined ? [] : [message]), ...(details ?? ["Loading..."])];
}

/** What a server says, on one line. */
const oneLine = (text: string): string => printable(text.replace(/[\n\t]+/g, " "));
