import { quote } from "@virtual-workspaces/apimachinery";
import { lines, type StreamedResponse } from "@virtual-workspaces/transport";
import type {
  PhysicalSpace,
  ProviderCall,
  ProviderChange,
  SpaceAccess,
  SpaceProvider,
} from "../../provider/provider.ts";
import type { Capabilities, ProtocolEvent } from "../protocol/bodies.ts";
import { isSpaceName, NAME_PROBLEM, problemOf } from "../protocol/bodies.ts";
import { LIMITS, MEDIA, PATHS, pathOf, withQuery } from "../protocol/protocol.ts";
import type { RestCalls } from "./rest-calls.ts";
import { jsonIn, ProviderRejection, shown } from "./rest-calls.ts";

/** Spaces per page. */
const PAGE = 500;
/** Maximum number of attempts of a list whose pages expire while it runs. */
const MOST_LISTS = 3;

/** Returns a provider in another process, with the capabilities that it reports. */
export function restSpaces(calls: RestCalls, can: Capabilities): SpaceProvider & AsyncDisposable {
  const spaces = new RestSpaces(calls, can.hierarchy);
  return {
    list: (call) => spaces.list(call),
    get: (name, call) => spaces.get(name, call),
    access: (name, call) => spaces.access(name, call),
    ...(can.create && { create: (name, call) => spaces.create(name, call) }),
    ...(can.delete && { delete: (name, call) => spaces.delete(name, call) }),
    ...(can.watch && { watch: (call) => spaces.watch(call) }),
    [Symbol.asyncDispose]: () => calls[Symbol.asyncDispose](),
  };
}

class RestSpaces {
  readonly #calls: RestCalls;
  readonly #hasHierarchy: boolean;

  constructor(calls: RestCalls, hasHierarchy: boolean) {
    this.#calls = calls;
    this.#hasHierarchy = hasHierarchy;
  }

  async list(call: ProviderCall): Promise<readonly PhysicalSpace[]> {
    for (let begun = 1; ; begun++) {
      const spaces = await this.#pages(call, begun < MOST_LISTS);
      if (spaces !== undefined) return spaces;
    }
  }

  /** Only a 404 about this space means that it is gone. */
  async get(name: string, call: ProviderCall): Promise<PhysicalSpace | undefined> {
    const path = this.#path(pathOf(checkedName(name)), call);
    const answer = this.#calls.json("Space", { path, signal: call.signal });
    const space = await answer.then(({ value }) => value).catch(unlessGone(name));
    if (space !== undefined && space.name !== name)
      throw new Error(`the provider returned the space ${quote(space.name)} for ${quote(name)}`);
    return space;
  }

  async access(name: string, call: ProviderCall): Promise<SpaceAccess> {
    const of = (scope: string): Promise<string> =>
      this.#calls.text(
        {
          path: this.#path(`${pathOf(checkedName(name))}/kubeconfig`, call, { scope }),
          signal: call.signal,
          limit: LIMITS.kubeconfig,
        },
        MEDIA.kubeconfig,
      );
    return { incluster: await of("incluster"), external: await of("external") };
  }

  async create(name: string, call: ProviderCall): Promise<void> {
    const path = this.#path(pathOf(checkedName(name)), call);
    await this.#calls.begin({ method: "PUT", path, json: {}, signal: call.signal });
  }

  async delete(name: string, call: ProviderCall): Promise<void> {
    const path = this.#path(pathOf(checkedName(name)), call);
    await this.#calls.begin({ method: "DELETE", path, signal: call.signal }).catch(unlessGone(name));
  }

  async *watch(call: ProviderCall): AsyncGenerator<ProviderChange, void, undefined> {
    const path = this.#path(PATHS.spaces, call, { watch: 1 });
    await using stream = await this.#calls.stream({ path, signal: call.signal }, MEDIA.events);
    try {
      let isBegun = false;
      for await (const event of eventsOf(stream)) {
        // Covers changes from before the provider began to watch.
        if (!isBegun) yield {};
        isBegun = true;
        if (event.type === "CHANGED") yield event.name === undefined ? {} : { name: event.name };
      }
    } catch (error) {
      throw this.#calls.failure(error);
    }
  }

  /** @returns `undefined` if the list must start again */
  async #pages(call: ProviderCall, mayBeginAgain: boolean): Promise<PhysicalSpace[] | undefined> {
    const spaces: PhysicalSpace[] = [];
    let left: number = LIMITS.list;
    for (let at: string | undefined; ; ) {
      const path = this.#path(PATHS.spaces, call, { limit: PAGE, continue: at });
      const page = this.#calls.json("SpaceList", { path, signal: call.signal, limit: left });
      const isOld = (error: unknown): undefined => {
        if (at !== undefined && mayBeginAgain && error instanceof ProviderRejection && error.code === 410)
          return undefined;
        throw error;
      };
      const answer = await page.catch(isOld);
      if (answer === undefined) return undefined;
      const { items, continue: next } = answer.value;
      for (const space of items) {
        checkOrder(spaces.at(-1)?.name ?? "", space.name);
        spaces.push(space);
      }
      if (next === undefined) return spaces;
      if (items.length === 0) throw new Error("the provider returned an empty page with a continue token");
      at = next;
      left -= answer.length;
    }
  }

  #path(
    path: string,
    { parent }: ProviderCall,
    more: Readonly<Record<string, string | number | undefined>> = {},
  ): string {
    if (parent !== undefined && !this.#hasHierarchy)
      throw new Error("the provider has no hierarchy: remove the annotation kubestellar.io/space-path");
    return withQuery(path, { parent, ...more });
  }
}

/** Security: an invalid name could change the path of the request. @throws Error on a name outside the protocol */
function checkedName(name: string): string {
  if (isSpaceName(name)) return name;
  throw new Error(`invalid space name ${quote(name)}: ${NAME_PROBLEM}`);
}

/** Detects pages that repeat or never end. @throws Error */
function checkOrder(before: string, name: string): void {
  if (name === before) throw new Error(`the provider returned two spaces with the name ${quote(name)}`);
  if (name < before)
    throw new Error(`the provider listed ${quote(name)} after ${quote(before)}: spaces must be sorted by name`);
}

/** Returns `undefined` for a 404 about this space; any other error stays an error. */
const unlessGone =
  (name: string) =>
  (error: unknown): undefined => {
    if (error instanceof ProviderRejection && error.isAbout(name)) return undefined;
    throw error;
  };

async function* eventsOf({ body }: StreamedResponse): AsyncGenerator<ProtocolEvent, void, undefined> {
  for await (const line of lines(body, { limit: LIMITS.line })) {
    const event = eventIn(line);
    if (event.type === "ERROR")
      throw new Error(`the watch has ended: ${shown(event.status?.message ?? "the provider gives no reason")}`);
    yield event;
  }
}

function eventIn(line: Buffer): ProtocolEvent {
  const value = jsonIn(line);
  const problem = problemOf("SpaceEvent", value);
  if (problem !== undefined) throw new Error(`invalid event in the watch: ${problem}`);
  return value as ProtocolEvent;
}
