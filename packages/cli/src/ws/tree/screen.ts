import { styleText } from "node:util";
import { baseName } from "@virtual-workspaces/apimachinery";
import type { Workspace } from "../session/kinds.ts";
import { printable } from "../session/output.ts";

/** A workspace in the displayed tree. */
export interface Item {
  readonly path: string;
  readonly depth: number;
  readonly parent: Item | undefined;
  /** Unset for the topmost item. */
  readonly workspace: Workspace | undefined;
  /** Children; `undefined` until the workspace is opened. */
  children: readonly Item[] | undefined;
  isOpen: boolean;
  isLoading: boolean;
  /** Reason why the children are unknown. */
  problem: string | undefined;
}

/** Content of the screen, and the size of the terminal. */
export interface ScreenContent {
  readonly items: Items;
  /** Details of the selected workspace; `undefined` while they load. */
  readonly details: readonly string[] | undefined;
  /** Whether to show whole paths. */
  readonly full: boolean;
  readonly height: number;
}

const TITLE = "kcp Workspaces";
const HELP = "↑/↓: navigate  →/←/Space: expand/collapse  Enter: switch to it  q: quit";
const MORE = "  ...";
/** Number of lines for the title, rule, heading, help and two empty lines. */
const AROUND = 6;
const FEWEST = 3;

/** Returns the lines of the screen, one for each line of the terminal. */
export function screenOf({ items, details, full, height }: ScreenContent): readonly string[] {
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

/** Returns the lines around a given one, with dots where lines are left out. */
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
  // The tree does not show workspaces behind a mount.
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

/** Formats a server's text on one line. */
const oneLine = (text: string): string => printable(text.replace(/[\n\t]+/g, " "));

/** Creates an item whose children are unknown. */
export function item(path: string, parent?: Item, workspace?: Workspace): Item {
  const depth = parent === undefined ? 0 : parent.depth + 1;
  return { path, depth, parent, workspace, children: undefined, isOpen: false, isLoading: false, problem: undefined };
}

/** The displayed tree: open items, and the selected one. */
export class Items {
  readonly root: Item;
  at: Item;

  constructor(root: Item) {
    this.root = root;
    this.at = root;
  }

  /** Visible items, from the top. */
  get rows(): readonly Item[] {
    return shownOf(this.root);
  }

  /** Moves the selection down, or up with a negative number, as far as possible. */
  move(by: number): void {
    const { rows } = this;
    this.at = rows[Math.min(rows.length - 1, Math.max(0, rows.indexOf(this.at) + by))] ?? this.at;
  }

  open(one: Item): void {
    one.isOpen = (one.children?.length ?? 0) > 0;
  }

  /** Collapses an item, and selects it if one of its children was selected. */
  close(one: Item): void {
    one.isOpen = false;
    if (isWithin(this.at, one)) this.at = one;
  }
}

function shownOf(one: Item): readonly Item[] {
  return one.isOpen ? [one, ...(one.children ?? []).flatMap(shownOf)] : [one];
}

function isWithin(one: Item, other: Item): boolean {
  for (let at: Item | undefined = one; at !== undefined; at = at.parent) if (at === other) return true;
  return false;
}
