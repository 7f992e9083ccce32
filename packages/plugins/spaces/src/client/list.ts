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

/** Selection of objects in each Space. */
export interface SpaceSelectOptions extends SelectOptions {
  /** @default all namespaces */
  readonly namespace?: string;
}

/** Options of a list across Spaces. */
export interface SpaceListOptions extends SpaceSelectOptions {
  /** Maximum number of objects per page, over all Spaces sorted by name. @default all */
  readonly limit?: number;
  /** Token from the previous page. */
  readonly continue?: string;
}

/** A Space that could not be read completely. Its contents are unknown; do not treat them as deleted. */
export interface FailedSpace {
  readonly space: SpaceName;
  readonly error: unknown;
}

/** Objects of a kind in all Spaces, or a page of them. */
export interface SpaceList<T> {
  /** Objects sorted by their Space's name. Resource versions belong to the Space and are not comparable across Spaces. */
  readonly items: readonly { readonly space: SpaceName; readonly object: ObjectOf<T> }[];
  readonly failed: readonly FailedSpace[];
  /** Cursor for a watch of the same selection, after this page and all earlier ones. Such a watch starts failed Spaces with all their objects. */
  readonly cursor: string;
  /** Token for the next page; absent on the last one. */
  readonly continue?: string;
}

/** A Space, or the reason why it cannot be read. */
export type ListTarget = Engagement | FailedSpace;

/** Spaces of a list. */
export interface ListedSpaces {
  /** Sorted by name. */
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
    throw ApiError.badRequest(`invalid limit ${limit}: use an integer above 0, or omit it`);
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

/** Request of a list. */
interface ListRequest<T> {
  readonly kind: KindReference<T>;
  readonly options: SpaceSelectOptions;
  /** Digest of the selection. */
  readonly selection: string;
}

interface PageOptions {
  readonly spaces: readonly ListTarget[];
  /** `undefined` for no limit. */
  readonly limit: number | undefined;
  /** Token from the previous page. */
  readonly token: string | undefined;
}

/** Maximum number of Spaces that are read at a time. */
const AT_ONCE = 16;

const targetName = (space: ListTarget): SpaceName => ("error" in space ? space.space : space.name);

/**
 * Page of a list across Spaces. It reads Spaces sorted by name, at first one and then twice as many at a time while their objects fit, so
 * that few are read in vain.
 */
class Page<T extends object> {
  readonly #asked: ListRequest<T>;
  readonly #items: SpaceList<T>["items"][number][] = [];
  readonly #failed: FailedSpace[] = [];
  /** Positions of the Spaces of this page and earlier ones. */
  readonly #positions: Map<SpaceName, SpacePosition>;
  readonly #waiting: ListTarget[];
  #room: number;
  /** Last Space that was read. */
  #last: SpaceName;
  /** Continue token of the first remaining Space; "" for its start. */
  #token = "";

  /** @throws ApiError 400 and 410 on a token that is invalid or of another list */
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

  /** Resumes in the middle of a Space, unless the Space was replaced. */
  #goOn(token: string, spaces: readonly ListTarget[]): void {
    const name = this.#last;
    const position = this.#positions.get(name);
    const space = spaces.find((one) => targetName(one) === name);
    if (space === undefined) this.#fail(name, ApiError.expired(`space ${name} ${HALF_READ}: it no longer exists`));
    else if ("error" in space) this.#fail(name, space.error);
    else if (position === undefined || !isSameServer(position, positionOf(space, "")))
      this.#fail(name, ApiError.expired(`space ${name} ${HALF_READ}: it was replaced, or has another server`));
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

  /** Adds the responses that fit. The others are read again with a smaller limit. */
  #takesAll(spaces: readonly ListTarget[], answers: readonly (ResourceList<T> | FailedSpace)[]): boolean {
    for (const [at, answer] of answers.entries()) {
      const space = spaces[at];
      // The first Space was requested with the exact limit: a longer response comes from a server without pagination.
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
      this.#fail(space.name, ApiError.internalError("the server returned the same continue token twice"));
      return;
    }
    for (const object of items) this.#items.push({ space: space.name, object });
    this.#room -= items.length;
    // The position is that of its first page: a watch reports later changes.
    if (this.#token === "") this.#positions.set(space.name, positionOf(space, resourceVersion));
    this.#token = token;
  }

  /** Marks a Space as failed, even if some of its objects are on earlier pages. */
  #fail(space: SpaceName, error: unknown): void {
    const position = this.#positions.get(space);
    if (position !== undefined) this.#positions.set(space, { ...position, version: "" });
    this.#failed.push({ space, error });
    this.#token = "";
  }
}

const HALF_READ = "was not read completely";
