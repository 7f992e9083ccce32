import { createHash } from "node:crypto";
import { ApiError, type KindReference } from "@virtual-workspaces/apimachinery";
import type { SelectOptions } from "@virtual-workspaces/client";
import type { Engagement } from "./engaged-space.ts";
import type { SpaceName } from "./space-name.ts";

/** Position of a reader in a Space. */
export interface SpacePosition {
  readonly space: SpaceName;
  /** Identifier of the Space. */
  readonly id: string;
  /** Digest of the server's address: resource versions are only valid on the same server. */
  readonly server: string;
  /** Resource version; "" if the reader has some events but no version to resume from. */
  readonly version: string;
}

/** Selection of a cursor besides its kind. */
export interface Selection extends Pick<SelectOptions, "labels" | "fields"> {
  readonly namespace?: string;
}

/** Prefixes of encoded cursors, with their names in messages. */
const FORMS = { v1: "cursor", p1: "continue" } as const;

/** Maximum length of a cursor, characters, enough for about 30,000 Spaces. */
const LONGEST = 4 * 1024 * 1024;

/** Returns a digest of a selection. A cursor is only valid for its own selection. */
export function selectionOf(
  kind: Pick<KindReference, "group" | "version" | "plural">,
  { namespace = "", labels = "", fields = "" }: Selection,
): string {
  const selected = [kind.group, kind.version, kind.plural, namespace, labels, fields];
  return createHash("sha256").update(JSON.stringify(selected)).digest("base64url").slice(0, 12);
}

/** Returns the position of a Space for its current server. */
export function positionOf(
  { name, id, digests }: Pick<Engagement, "name" | "id" | "digests">,
  version: string,
): SpacePosition {
  return { space: name, id, server: digests.server.slice(0, 8), version };
}

/** Reports whether two positions have comparable resource versions. */
export const isSameServer = (a: SpacePosition, b: SpacePosition): boolean => a.id === b.id && a.server === b.server;

/** Encodes a cursor; equal positions give equal text. */
export function cursorText(selection: string, positions: Iterable<SpacePosition>): string {
  return writeText("v1", [selection, ...rowsOf(positions)]);
}

/**
 * Decodes a cursor.
 *
 * @throws ApiError 400 on text that is not a cursor; 410 if it is damaged, too long, or of another format version or selection
 */
export function positionsIn(cursor: string, selection: string): SpacePosition[] {
  const [, ...rows] = readText("v1", { text: cursor, selection });
  return positionsOf("v1", rows);
}

/** Start of the next page of a list. */
export interface NextPage {
  /** The Space that is being read, or the last one that was read. */
  readonly at: SpaceName;
  /** Continue token of its server; "" if the Space was read completely. */
  readonly token: string;
  readonly positions: readonly SpacePosition[];
}

/** Encodes the start of the next page. */
export function continueText(selection: string, { at, token, positions }: NextPage): string {
  return writeText("p1", [selection, [at, token], ...rowsOf(positions)]);
}

/** Decodes the start of a page. @throws ApiError as {@link positionsIn} */
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
    throw ApiError.badRequest(`invalid ${FORMS[form]}: use the complete value of a list or watch across Spaces`);
  if (!text.startsWith(`${form}.`) || text.length > LONGEST) throw damaged(form);
  const value = jsonOf(text.slice(form.length + 1));
  if (!Array.isArray(value)) throw damaged(form);
  if (value[0] !== selection)
    throw ApiError.expired(
      `the ${FORMS[form]} belongs to another kind, namespace or selector: start without one, or use the same selection`,
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
  ApiError.expired(`the ${FORMS[form]} is damaged or of another version: start without one`);

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined;
  }
}

/** Length of a row, which each change copies together with the list of rows. */
const ROW = 32;

/** Immutable positions by index. A change copies one row and the list of rows, so that each event of a thousand Spaces has a copy of its own. */
export class SpacePositions implements Iterable<SpacePosition> {
  readonly #rows: readonly (readonly (SpacePosition | undefined)[])[];

  constructor(rows: readonly (readonly (SpacePosition | undefined)[])[] = []) {
    this.#rows = rows;
  }

  /** Returns a copy with another position at an index, or none. */
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
