import { effect, type ReadonlySignal, untracked } from "@preact/signals";
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type {
  ObjectPanelContext,
  PanelContext,
  PanelMount,
  ViewPanelContext,
} from "@virtual-workspaces/framework/panel";
import { apiUrl } from "../api/base.ts";
import type { WholeObject } from "../object/live-object.ts";
import { navigate, type Route, routeHash, routeTo } from "../route.ts";
import { announce } from "../ui/announce.tsx";
import { panelClient } from "./panel-client.ts";
import { panelElements } from "./panel-elements.tsx";
import type { Panel } from "./panel-list.ts";
import { texts } from "./texts.ts";

/** Subject of a panel. */
export interface PanelParts {
  readonly panel: Panel;
  readonly workspace: PanelContext["workspace"];
  readonly api: string;
  readonly user: PanelContext["user"];
  /** Of a panel for objects. */
  readonly object?: ReadonlySignal<WholeObject>;
  /** Of a panel for a virtual workspace. */
  readonly view?: ViewPanelContext["view"];
}

interface PanelModule {
  readonly mount?: unknown;
  readonly default?: unknown;
}

/** A panel in its element. */
export class RunningPanel {
  readonly #parts: PanelParts;
  readonly #onFailure: (error: unknown) => void;
  readonly #stop = new AbortController();
  /** Errors of requests that the panel may not handle. */
  readonly #errors = new WeakSet<object>();
  #unmount: (() => void) | undefined;

  /** @param onFailure gets the first error, once the panel has ended */
  constructor(parts: PanelParts, onFailure: (error: unknown) => void) {
    this.#parts = parts;
    this.#onFailure = onFailure;
    const { signal } = this.#stop;
    addEventListener("error", (event) => this.#onLater(event, event.error, event.filename), { signal });
    addEventListener("unhandledrejection", (event) => this.#onLater(event, event.reason), { signal });
  }

  /** Imports the module and mounts the panel. `attempt` differs for each, since browsers keep modules that could not be loaded. */
  async mount(element: HTMLElement, attempt: number): Promise<void> {
    try {
      const mount = await this.#import(attempt);
      if (this.#stop.signal.aborted) return;
      const unmount = await untracked(() => mount(element, this.#context()));
      if (typeof unmount !== "function") return;
      if (this.#stop.signal.aborted) unmount();
      else this.#unmount = unmount;
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Ends the panel. */
  end(): void {
    if (this.#stop.signal.aborted) return;
    const unmount = this.#unmount;
    this.#unmount = undefined;
    try {
      unmount?.();
    } catch (error) {
      // There is no place to show it any more.
      setTimeout(reportError, 0, error);
    } finally {
      this.#stop.abort();
    }
  }

  async #import(attempt: number): Promise<PanelMount> {
    const { module, error } = this.#parts.panel;
    if (module === undefined) throw new Error(texts.notLoaded(error ?? ""));
    const url = new URL(module, document.baseURI);
    if (attempt > 0) url.search = `attempt=${attempt}`;
    let loaded: PanelModule;
    try {
      loaded = (await import(/* @vite-ignore */ url.href)) as PanelModule;
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      // A syntax error has its own name.
      const remedy = cause instanceof TypeError ? `. ${texts.orImported}` : "";
      throw new Error(`${texts.notLoaded(message)}${remedy}`, { cause });
    }
    const mount = loaded.mount ?? loaded.default;
    if (typeof mount !== "function") throw new Error(texts.noMount);
    return mount as PanelMount;
  }

  #context(): PanelContext {
    const { workspace, user, object, view } = this.#parts;
    const { signal } = this.#stop;
    const call = (listener: () => void): void => {
      try {
        if (!signal.aborted) untracked(listener);
      } catch (error) {
        this.#fail(error);
      }
    };
    const onError = (error: unknown): void => {
      if (typeof error === "object" && error !== null) this.#errors.add(error);
    };
    const href: PanelContext["href"] = (place) => routeHash(routeOf(place, workspace.path));
    const context: PanelContext = {
      ...{ workspace, user, announce, signal, api: this.#parts.api },
      client: panelClient({ api: () => this.#parts.api, signal, call, onError }),
      elements: panelElements({ signal, href }),
      url: (path) => apiUrl(path).href,
      navigate: (place) => navigate(routeOf(place, workspace.path)),
      href,
    };
    if (object !== undefined) return { ...context, object: liveObject(object, signal, call) } as ObjectPanelContext;
    return view === undefined ? context : ({ ...context, view } as ViewPanelContext);
  }

  /** An error outside of the calls of the page: in a handler of an event, a timer or a promise. */
  #onLater(event: Event, error: unknown, file = ""): void {
    const { module } = this.#parts.panel;
    if (module === undefined) return;
    const folder = new URL(module.split("/").slice(0, 3).join("/"), document.baseURI).href;
    const isObject = typeof error === "object" && error !== null;
    const stack = error instanceof Error ? (error.stack ?? "") : "";
    if (!file.startsWith(folder) && !stack.includes(folder) && !(isObject && this.#errors.has(error))) return;
    event.preventDefault();
    this.#fail(error);
  }

  #fail(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.end();
    // biome-ignore lint/suspicious/noConsole: for the author of the panel, with the place of the error.
    console.error(error);
    this.#onFailure(error);
  }
}

function liveObject(
  object: ReadonlySignal<WholeObject>,
  signal: AbortSignal,
  call: (listener: () => void) => void,
): ObjectPanelContext["object"] {
  const current = () => object.peek() as unknown as KubeObject;
  return {
    get current() {
      return current();
    },
    subscribe(listener) {
      if (signal.aborted) return () => undefined;
      const stop = effect(() => {
        const { value } = object;
        call(() => listener(value as unknown as KubeObject));
      });
      signal.addEventListener("abort", stop, { once: true });
      return stop;
    },
  };
}

type Place = Parameters<PanelContext["navigate"]>[0];

function routeOf({ workspace, virtualWorkspace, resource, object, view }: Place, here: string): Route {
  if (virtualWorkspace !== undefined)
    return routeTo({ workspace: workspace ?? here }, { view: "views", of: virtualWorkspace });
  return routeTo(
    {
      workspace: workspace ?? here,
      ...(resource !== undefined && { resource }),
      ...(object !== undefined && { object: { namespace: object.namespace ?? "", name: object.name } }),
    },
    view === undefined ? {} : { view },
  );
}
