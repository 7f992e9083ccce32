import { createHash } from "node:crypto";
import { ApiError, type KindReference } from "@virtual-workspaces/apimachinery";
import type { SelectOptions } from "@virtual-workspaces/client";
import type { Engagement } from "./engaged-space.ts";
import type { SpaceName } from "./space-name.ts";

/** Up to where a Space has been told. */
export interface SpacePosition {
  readonly space: SpaceName;
  /** Which one it is. */
  readonly id: string;
  /** A digest of where it is reached: versions of one server mean nothing to another. */
  readonly server: string;
  /** "": something of it has been told, and there is no version to go on from. */
  readonly version: string;
}

/** What a cursor is of, besides its kind. */
export interface Selection extends Pick<SelectOptions, "labels" | "fields"> {
  readonly namespace?: string;
}

/** What begins a text of ours, and what it is called to its reader. */
const FORMS = { v1: "cursor", p1: "continue" } as const;

/** The longest that is read, characters: some 30,000 Spaces. */
const LONGEST = 4 * 1024 * 1024;

/** A digest of what is selected. A cursor of one is none of another. */
export function selectionOf(
  kind: Pick<KindReference, "group" | "version" | "plural">,
  { namespace = "", labels = "", fields = "" }: Selection,
): string {
  const selected = [kind.group, kind.version, kind.plural, namespace, labels, fields];
  return createHash("sha256").update(JSON.stringify(selected)).digest("base64url").slice(0, 12);
}

/** Where a Space begins that is read as it is reached now. */
export function positionOf(
  { name, id, digests }: Pick<Engagement, "name" | "id" | "digests">,
  version: string,
): SpacePosition {
  return { space: name, id, server: digests.server.slice(0, 8), version };
}

/** Whether versions of the one mean something to the other. */
export const isSameServer = (a: SpacePosition, b: SpacePosition): boolean => a.id === b.id && a.server === b.server;

/** The text of a cursor, which is the same for the same positions. */
export function cursorText(selection: string, positions: Iterable<SpacePosition>): string {
  return writeText("v1", [selection, ...rowsOf(positions)]);
}

/**
 * Where a cursor goes on from.
 *
 * @throws ApiError 400 on what is no cursor; 410 on one that is damaged, too long, of another version of ours, or of another selection
 */
export function positionsIn(cursor: string, selection: string): SpacePosition[] {
  const [, ...rows] = readText("v1", { text: cursor, selection });
  return positionsOf("v1", rows);
}

/** Where the next page of a list begins. */
export interface NextPage {
  /** The Space that is being read, or the last that was. */
  readonly at: SpaceName;
  /** What its server gave for its next page; "": it has been read. */
  readonly token: string;
  readonly positions: readonly SpacePosition[];
}

/** The text of where the next page begins. */
export function continueText(selection: string, { at, token, positions }: NextPage): string {
  return writeText("p1", [selection, [at, token], ...rowsOf(positions)]);
}

/** Where a page begins. @throws ApiError as {@link positionsIn} */
export function nextPageIn(text: string, selection: string): NextPage {
  const [, next, ...rows] = readText("p1", { text, selection });
  if (!isStrings(next, 2)) throw damaged("p1");
  const [at = "", token = ""] = next;
  return { at, token, positions: positionsOf("p1", rows) };
}

const rowsOf = (positions: Iterable<SpacePosition>): (readonly string[])[] =>
  Array.from(positions, ({ space, id, server, version }) => [space, id, server, version] as const).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );

const writeText = (form: keyof typeof FORMS, value: readonly unknown[]): string =>
  `${form}.${Buffer.from(JSON.stringify(value)).toString("base64url")}`;

function readText(form: keyof typeof FORMS, { text, selection }: { text: string; selection: string }): unknown[] {
  if (!/^[vp]\d+\./.test(text))
    throw ApiError.badRequest(
      `${FORMS[form]}: what was given is none: give what a list or a watch across Spaces said, whole`,
    );
  if (!text.startsWith(`${form}.`) || text.length > LONGEST) throw damaged(form);
  const value = jsonOf(text.slice(form.length + 1));
  if (!Array.isArray(value)) throw damaged(form);
  if (value[0] !== selection)
    throw ApiError.expired(
      `the ${FORMS[form]} is of another kind, namespace or selector: begin without one, or ask for what it is of`,
    );
  return value;
}

function positionsOf(form: keyof typeof FORMS, rows: readonly unknown[]): SpacePosition[] {
  let before = "";
  return rows.map((row) => {
    if (!isStrings(row, 4)) throw damaged(form);
    const [space = "", id = "", server = "", version = ""] = row;
    if (space <= before) throw damaged(form);
    before = space;
    return { space, id, server, version };
  });
}

const isStrings = (value: unknown, length: number): value is readonly string[] =>
  Array.isArray(value) && value.length === length && value.every((text) => typeof text === "string");

const damaged = (form: keyof typeof FORMS): ApiError =>
  ApiError.expired(`the ${FORMS[form]} is damaged, or none of this version: begin without one`);

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined;
  }
}

/** How many are copied beside the rows, at each change. */
const ROW = 32;

/** Places by number, immutable: a change copies one row and the list of rows, so that each event of a thousand Spaces can have its own at the cost of two short copies. */
export class SpacePositions implements Iterable<SpacePosition> {
  readonly #rows: readonly (readonly (SpacePosition | undefined)[])[];

  constructor(rows: readonly (readonly (SpacePosition | undefined)[])[] = []) {
    this.#rows = rows;
  }

  /** The same with another position at a number, or none. */
  with(at: number, position: SpacePosition | undefined): SpacePositions {
    const row = [...(this.#rows[Math.floor(at / ROW)] ?? [])];
    row[at % ROW] = position;
    const rows = [...this.#rows];
    rows[Math.floor(at / ROW)] = row;
    return new SpacePositions(rows);
  }

  *[Symbol.iterator](): Generator<SpacePosition> {
    for (const row of this.#rows) for (const position of row ?? []) if (position !== undefined) yield position;
  }
}
