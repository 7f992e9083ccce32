import { joinWorkspacePath, type KindReference } from "@virtual-workspaces/apimachinery";
import { API_BINDINGS, API_EXPORTS, ENDPOINT_SLICES, WORKSPACES } from "../session/kinds.ts";
import { isRefusal } from "../session/requests.ts";
import type { Session } from "../session/session.ts";
import { isAlive } from "./nodes.ts";
import { type Item, Items, item, screenOf } from "./screen.ts";
import { Terminal } from "./terminal.ts";

type Action = "quit" | "choose" | "up" | "down" | "open" | "close" | "toggle" | "none";

/** Keys of kcp's plugin. */
const ACTION_OF: Readonly<Record<string, Action>> = {
  q: "quit",
  escape: "quit",
  "ctrl+c": "quit",
  return: "choose",
  enter: "choose",
  up: "up",
  k: "up",
  down: "down",
  j: "down",
  right: "open",
  l: "open",
  left: "close",
  h: "close",
  backspace: "close",
  space: "toggle",
};

export interface BrowseOptions {
  readonly session: Session;
  /** Path of the topmost workspace. */
  readonly path: string;
  /** Whether to show whole paths. */
  readonly full: boolean;
}

/**
 * Shows a tree for navigation with the keyboard, like kcp's (`tree -i`). Lists a workspace when it is opened.
 *
 * @returns the selected workspace, if any
 * @throws Failure without a terminal; ApiError when the topmost workspace cannot be listed
 */
export async function browse(options: BrowseOptions): Promise<string | undefined> {
  const browser = new Browser(options);
  // Before it switches screens, so that errors appear as for every command.
  await browser.load();
  return await browser.run();
}

class Browser {
  readonly #session: Session;
  readonly #full: boolean;
  readonly #items: Items;
  readonly #details = new Map<string, readonly string[] | undefined>();
  readonly #chosen = Promise.withResolvers<string | undefined>();
  #terminal: Terminal | undefined;

  constructor({ session, path, full }: BrowseOptions) {
    this.#session = session;
    this.#full = full;
    this.#items = new Items(item(path));
  }

  /** Lists the topmost workspace. */
  async load(): Promise<void> {
    const { root } = this.#items;
    root.children = await this.#list(root);
    this.#items.open(root);
  }

  async run(): Promise<string | undefined> {
    using terminal = new Terminal({ key: (name) => this.#pressed(name), resize: () => this.#show() });
    this.#terminal = terminal;
    this.#show();
    try {
      return await this.#chosen.promise;
    } finally {
      this.#terminal = undefined;
    }
  }

  #pressed(key: string): void {
    const { at } = this.#items;
    const act = this.#actions[ACTION_OF[key] ?? "none"];
    act(at);
    this.#show();
  }

  readonly #actions: Readonly<Record<Action, (at: Item) => void>> = {
    quit: () => this.#chosen.resolve(undefined),
    choose: ({ path }) => this.#chosen.resolve(path),
    up: () => this.#items.move(-1),
    down: () => this.#items.move(1),
    open: (at) => this.#open(at),
    close: (at) => this.#items.close(at),
    toggle: (at) => (at.isOpen ? this.#items.close(at) : this.#open(at)),
    none: () => undefined,
  };

  #open(one: Item): void {
    if (one.children !== undefined) this.#items.open(one);
    else if (!one.isLoading) void this.#opened(one);
  }

  async #opened(one: Item): Promise<void> {
    one.isLoading = true;
    one.problem = undefined;
    try {
      one.children = await this.#list(one);
      this.#items.open(one);
    } catch (error) {
      if (!isRefusal(error)) this.#chosen.reject(error);
      else one.problem = error.message;
    }
    one.isLoading = false;
    this.#show();
  }

  async #list(one: Item): Promise<readonly Item[]> {
    const { items } = await this.#session.client(one.path).resource(WORKSPACES).all(this.#session.patience);
    return items
      .filter(isAlive)
      .map((workspace) => item(joinWorkspacePath(one.path, workspace.metadata.name ?? ""), one, workspace));
  }

  /** Draws the current state. */
  #show(): void {
    const { path } = this.#items.at;
    if (this.#terminal === undefined) return;
    if (!this.#details.has(path)) void this.#detail(path);
    const { height } = this.#terminal;
    this.#terminal.draw(screenOf({ items: this.#items, details: this.#details.get(path), full: this.#full, height }));
  }

  async #detail(path: string): Promise<void> {
    this.#details.set(path, undefined);
    try {
      this.#details.set(path, await readDetails(this.#session, path));
      if (this.#items.at.path === path) this.#show();
    } catch (error) {
      this.#chosen.reject(error);
    }
  }
}

/** Returns the APIs of a workspace: its exports with their URLs, and its bindings. Omits objects that the user may not read. */
async function readDetails(session: Session, path: string): Promise<readonly string[]> {
  const list = async <T extends object>(kind: KindReference<T>) => {
    try {
      return (await session.client(path).resource(kind).all(session.patience)).items;
    } catch (error) {
      if (isRefusal(error)) return [];
      throw error;
    }
  };
  const [exports, slices, bindings] = await Promise.all([list(API_EXPORTS), list(ENDPOINT_SLICES), list(API_BINDINGS)]);
  return [
    ...section(
      "APIExports",
      exports.map(({ metadata }) => [metadata.name ?? ""]),
    ),
    ...section(
      "APIExportEndpointSlices",
      slices.map(({ metadata, spec, status }) => {
        const endpoints = status?.endpoints?.length ?? 0;
        const of = `${metadata.name} → ${exportText(spec?.export)}`;
        return [endpoints === 0 ? of : `${of} (${endpoints} ${endpoints === 1 ? "endpoint" : "endpoints"})`];
      }),
    ),
    ...section(
      "APIBindings",
      bindings.map(({ metadata, spec, status }) => [
        `${metadata.name} → ${exportText(spec.reference.export)}`,
        ...(status?.boundResources ?? []).map(
          ({ group, resource }) => `  └─ ${group === "" ? resource : `${resource}.${group}`}`,
        ),
      ]),
    ),
  ];
}

/** Formats a section as kcp does: a title with the number of items, then the items. */
function section(title: string, items: readonly (readonly string[])[]): readonly string[] {
  if (items.length === 0) return [];
  const lines = items.flatMap(([first = "", ...more]) => [`  • ${first}`, ...more.map((line) => `  ${line}`)]);
  return [`${title} (${items.length}):`, ...lines];
}

function exportText(of: { readonly path?: string | undefined; readonly name: string } | undefined): string {
  if (of === undefined) return "";
  return of.path ? `${of.path}:${of.name}` : of.name;
}
