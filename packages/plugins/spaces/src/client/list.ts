import { ApiError, type KindReference, type ObjectOf } from "@virtual-workspaces/apimachinery";
import type { ResourceList, SelectOptions } from "@virtual-workspaces/client";
import {
  continueText,
  cursorText,
  isSameServer,
  nextPageIn,
  positionOf,
  type SpacePosition,
  selectionOf,
} from "./cursor.ts";
import type { Engagement } from "./engaged-space.ts";
import type { Slots } from "./slots.ts";
import type { SpaceName } from "./space-name.ts";

/** What is read in each Space. */
export interface SpaceSelectOptions extends SelectOptions {
  /** @default all */
  readonly namespace?: string;
}

/** What is listed in each Space, and how much of it at a time. */
export interface SpaceListOptions extends SpaceSelectOptions {
  /** The most objects in one answer, over all Spaces, in order of their names. @default all */
  readonly limit?: number;
  /** What the page before gave. */
  readonly continue?: string;
}

/** A Space that could not be read, or not to its end. Nothing is known of what is in it: least of all that it is not there. */
export interface FailedSpace {
  readonly space: SpaceName;
  readonly error: unknown;
}

/** The objects of a kind in all Spaces, or a page of them. */
export interface SpaceList<T> {
  /** By the Space's name. Versions are those of the Space: they are not to be compared across. */
  readonly items: readonly { readonly space: SpaceName; readonly object: ObjectOf<T> }[];
  readonly failed: readonly FailedSpace[];
  /** Where a watch of the same goes on from: after this page, and all before it. What could not be read is told by it from the beginning. */
  readonly cursor: string;
  /** Asks for the next page; none: this was the last. */
  readonly continue?: string;
}

/** A Space, or why it cannot be read. */
export type ListTarget = Engagement | FailedSpace;

/** What a list needs of the Spaces that it is of. */
export interface ListedSpaces {
  /** In order of their names. */
  readonly spaces: readonly ListTarget[];
  readonly slots: Slots;
}

export async function listAcross<T extends object>(
  kind: KindReference<T>,
  { limit, continue: token, ...options }: SpaceListOptions,
  { spaces, slots }: ListedSpaces,
): Promise<SpaceList<T>> {
  const selection = selectionOf(kind, options);
  if (limit !== undefined && !(Number.isInteger(limit) && limit > 0))
    throw ApiError.badRequest(`limit: give a whole number above 0, or leave it out; it is ${limit}`);
  if (limit === undefined && token === undefined) return listWhole({ kind, options, selection }, { spaces, slots });
  const page = new Page({ kind, options, selection }, { spaces, limit, token });
  return page.read();
}

async function listWhole<T extends object>(
  asked: ListRequest<T>,
  { spaces, slots }: ListedSpaces,
): Promise<SpaceList<T>> {
  const { kind, options } = asked;
  const { namespace, ...select } = options;
  const answers = spaces.map(async (space): Promise<ResourceList<T> | FailedSpace> => {
    if ("error" in space) return space;
    const all = space.client.resource(kind);
    using _ = await slots.take(select.signal);
    try {
      return await (namespace === undefined ? all : all.in(namespace)).all({ ...select, whenExpired: "relist" });
    } catch (error) {
      select.signal?.throwIfAborted();
      return { space: space.name, error };
    }
  });
  const items: SpaceList<T>["items"][number][] = [];
  const failed: FailedSpace[] = [];
  const positions: SpacePosition[] = [];
  for (const [at, answer] of (await Promise.all(answers)).entries()) {
    const space = spaces[at];
    if ("error" in answer) failed.push(answer);
    else if (space !== undefined && !("error" in space)) {
      for (const object of answer.items) items.push({ space: space.name, object });
      positions.push(positionOf(space, answer.metadata.resourceVersion ?? ""));
    }
  }
  return { items, failed, cursor: cursorText(asked.selection, positions) };
}

/** What is listed. */
interface ListRequest<T> {
  readonly kind: KindReference<T>;
  readonly options: SpaceSelectOptions;
  /** A digest of it. */
  readonly selection: string;
}

interface PageOptions {
  readonly spaces: readonly ListTarget[];
  /** `undefined`: as many as there are. */
  readonly limit: number | undefined;
  /** What the page before gave. */
  readonly token: string | undefined;
}

/** How many Spaces are asked at a time, at most. */
const AT_ONCE = 16;

const targetName = (space: ListTarget): SpaceName => ("error" in space ? space.space : space.name);

/**
 * A page of a list over all Spaces. They are read in order of their names: one at first, and twice as many at a time for as long as whatever they have
 * fits, so that little is read in vain.
 */
class Page<T extends object> {
  readonly #asked: ListRequest<T>;
  readonly #items: SpaceList<T>["items"][number][] = [];
  readonly #failed: FailedSpace[] = [];
  /** Of what has been read, on this page and those before. */
  readonly #positions: Map<SpaceName, SpacePosition>;
  readonly #waiting: ListTarget[];
  #room: number;
  /** The last that has been read. */
  #last: SpaceName;
  /** Where the first of those that wait goes on; "": at its beginning. */
  #token = "";

  /** @throws ApiError 400 and 410 on a token that is none, or of another list */
  constructor(asked: ListRequest<T>, { spaces, limit = Number.POSITIVE_INFINITY, token }: PageOptions) {
    const begin = { at: "", token: "", positions: [] };
    const next = token === undefined ? begin : nextPageIn(token, asked.selection);
    this.#asked = asked;
    this.#room = limit;
    this.#last = next.at;
    this.#positions = new Map(next.positions.map((position) => [position.space, position]));
    this.#waiting = spaces.filter((space) => targetName(space) > next.at);
    if (next.token !== "") this.#goOn(next.token, spaces);
  }

  async read(): Promise<SpaceList<T>> {
    let width = 1;
    while (this.#room > 0 && this.#waiting.length > 0) {
      const spaces = this.#waiting.slice(0, this.#token === "" ? width : 1);
      const answers = await Promise.all(spaces.map((space) => this.#ask(space)));
      width = this.#takesAll(spaces, answers) ? Math.min(AT_ONCE, width * 2) : 1;
    }
    const { selection } = this.#asked;
    const [first] = this.#waiting;
    const at = first !== undefined && this.#token !== "" ? targetName(first) : this.#last;
    const positions = [...this.#positions.values()];
    const known = positions.map((position) =>
      this.#token !== "" && position.space === at ? { ...position, version: "" } : position,
    );
    return {
      items: this.#items,
      failed: this.#failed,
      cursor: cursorText(selection, known),
      ...(first !== undefined && { continue: continueText(selection, { at, token: this.#token, positions }) }),
    };
  }

  /** With a Space of which a page has been read, if it is still that one. */
  #goOn(token: string, spaces: readonly ListTarget[]): void {
    const name = this.#last;
    const position = this.#positions.get(name);
    const space = spaces.find((one) => targetName(one) === name);
    if (space === undefined) this.#fail(name, ApiError.expired(`space ${name} ${HALF_READ}: it is not there any more`));
    else if ("error" in space) this.#fail(name, space.error);
    else if (position === undefined || !isSameServer(position, positionOf(space, "")))
      this.#fail(name, ApiError.expired(`space ${name} ${HALF_READ}: it is another one now, or is reached elsewhere`));
    else {
      this.#waiting.unshift(space);
      this.#token = token;
    }
  }

  async #ask(space: ListTarget): Promise<ResourceList<T> | FailedSpace> {
    if ("error" in space) return space;
    const { kind, options } = this.#asked;
    const { namespace, ...select } = options;
    const all = space.client.resource(kind);
    const part = {
      ...(this.#room !== Number.POSITIVE_INFINITY && { limit: this.#room }),
      ...(this.#token !== "" && { continue: this.#token }),
    };
    try {
      return await (namespace === undefined ? all : all.in(namespace)).list({ ...select, ...part });
    } catch (error) {
      select.signal?.throwIfAborted();
      return { space: space.name, error };
    }
  }

  /** Takes what fits. What does not is asked for again: it has been asked for too much. */
  #takesAll(spaces: readonly ListTarget[], answers: readonly (ResourceList<T> | FailedSpace)[]): boolean {
    for (const [at, answer] of answers.entries()) {
      const space = spaces[at];
      // Of the first no more was asked than there is room for: a server that says more has no pages.
      if (!("error" in answer) && at > 0 && answer.items.length > this.#room) return false;
      if ("error" in answer) this.#fail(answer.space, answer.error);
      else if (space !== undefined && !("error" in space)) this.#take(space, answer);
      if (this.#token !== "") return false;
      this.#waiting.shift();
      if (space !== undefined) this.#last = targetName(space);
    }
    return true;
  }

  #take(space: Engagement, { items, metadata }: ResourceList<T>): void {
    const { continue: token = "", resourceVersion = "" } = metadata;
    if (token !== "" && token === this.#token) {
      this.#fail(space.name, ApiError.internalError("the server gave the same continue token twice"));
      return;
    }
    for (const object of items) this.#items.push({ space: space.name, object });
    this.#room -= items.length;
    // Of its first page: what has happened since is told by a watch.
    if (this.#token === "") this.#positions.set(space.name, positionOf(space, resourceVersion));
    this.#token = token;
  }

  /** Something of it may have been given, which is not to be trusted. */
  #fail(space: SpaceName, error: unknown): void {
    const position = this.#positions.get(space);
    if (position !== undefined) this.#positions.set(space, { ...position, version: "" });
    this.#failed.push({ space, error });
    this.#token = "";
  }
}

const HALF_READ = "was not read to its end";
