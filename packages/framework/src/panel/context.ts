import type { KubeObject, ObjectMeta } from "@virtual-workspaces/apimachinery";

/** The browser's `HTMLElement`, where the library `dom` is in the program: servers that import the framework do not need it. */
export type PanelElement = typeof globalThis extends { HTMLElement: { prototype: infer Type } } ? Type : object;

/**
 * Shows a panel in an element that is empty. The returned function is called when the panel is left, before {@link PanelContext.signal}
 * aborts. An exception is shown in the place of the panel, and the rest of the page goes on.
 */
export type PanelMount<Context extends PanelContext = PanelContext> = (
  element: PanelElement,
  context: Context,
) => PanelUnmount | Promise<PanelUnmount>;

/** Result of {@link PanelMount}. */
// biome-ignore lint/suspicious/noConfusingVoidType: a panel that needs no cleanup returns nothing.
export type PanelUnmount = (() => void) | undefined | void;

/** Function of a panel for the objects of a resource: the export `mount` of its module, or the default one. */
export type ObjectPanel<Item extends PanelObject = KubeObject> = PanelMount<ObjectPanelContext<Item>>;
/** Function of a panel for a virtual workspace: the export `mount` of its module, or the default one. */
export type ViewPanel = PanelMount<ViewPanelContext>;

/** Context that the console gives every panel. */
export interface PanelContext {
  /** The workspace of the page. */
  readonly workspace: {
    /** Workspace path: `root:acme`. */
    readonly path: string;
    /** Name of its logical cluster; the path while that is unknown. */
    readonly cluster: string;
  };
  /**
   * Path of the API that {@link client} uses by default, below the URL of the server: that of the workspace (`clusters/root:acme`), or
   * that of the virtual workspace (`services/quotes/clusters/root`) if its only parameter is the logical cluster.
   */
  readonly api: string;
  /** User of the session; while the tab acts as another user, that user. */
  readonly user: { readonly username: string; readonly groups?: readonly string[] };
  /** Requests with the session of the page. */
  readonly client: PanelClient;
  /** Goes to a page of the console. */
  navigate(place: PanelPlace): void;
  /** Returns the address of a page of the console, for a link. */
  href(place: PanelPlace): string;
  /** Returns the URL of a path below that of the server, for clients: `services/quotes/clusters/root`. */
  url(path: string): string;
  /** Has screen readers read a text: a result that is not where the focus is. */
  announce(text: string): void;
  /** Parts of the page that panels can use. */
  readonly elements: PanelElements;
  /** Aborts when the panel is left, or has failed. The client's requests and watches then end. */
  readonly signal: AbortSignal;
}

/** Context of an {@link ObjectPanel}. */
export interface ObjectPanelContext<Item extends PanelObject = KubeObject> extends PanelContext {
  /** The object of the page, live. */
  readonly object: {
    /** The last known state. */
    readonly current: Item;
    /** Calls a function with the current state, and after each change, until the panel ends or the returned function is called. */
    subscribe(listener: (object: Item) => void): () => void;
  };
}

/** Context of a {@link ViewPanel}. */
export interface ViewPanelContext extends PanelContext {
  /** The virtual workspace of the page. */
  readonly view: {
    readonly name: string;
    /** Path with parameters in braces: `/services/quotes/clusters/{cluster}`. Undefined if it is unknown to the page. */
    readonly path?: string;
  };
}

/** Fields that every object has: a type of your own needs no more. */
export interface PanelObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** A resource of an API. */
export interface PanelCollection {
  /** "" is the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural name. */
  readonly resource: string;
  /** @default the objects of all namespaces, or cluster-scoped ones */
  readonly namespace?: string;
  /** Path of the API, below the URL of the server: `services/query/clusters/*`. @default {@link PanelContext.api} */
  readonly api?: string;
}

/** An object of an API. */
export interface PanelAddress extends PanelCollection {
  readonly name: string;
}

/** Access to an object, or to a collection. */
export interface PanelAccess extends PanelCollection {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, or a verb of the resource's own. */
  readonly verb: string;
  /** @default every object */
  readonly name?: string;
  /** @default the object itself */
  readonly subresource?: string;
}

/** Objects to watch. */
export interface PanelWatched extends PanelCollection {
  readonly parameters?: PanelParameters;
  /**
   * Whether to watch the objects of all workspaces that serve the resource and in which the user may list it. Each object has its
   * logical cluster in the annotation `kcp.io/cluster`. Needs a server with query views, such as `start`.
   * @default false
   */
  readonly everywhere?: boolean;
}

/** Query parameters, such as `labelSelector`. Undefined and empty ones are left out. */
export type PanelParameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** Options of {@link PanelClient.request}. */
export interface PanelRequest {
  /** @default "GET" */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly parameters?: PanelParameters;
  /** Sent as JSON, a string as it is. */
  readonly body?: unknown;
  /** Media type of the body. @default "application/json" */
  readonly contentType?: string;
}

/**
 * Client of the server's API, with the rights of {@link PanelContext.user}. Its promises reject with a {@link PanelError}, and with an
 * `AbortError` once the panel has ended.
 *
 * Security: it reaches the server of the page only; a path that leads elsewhere is an error.
 */
export interface PanelClient {
  /** Reads an object. */
  get<Item extends PanelObject = KubeObject>(address: PanelAddress): Promise<Item>;
  /** Lists objects once. */
  list<Item extends PanelObject = KubeObject>(
    collection: PanelCollection,
    parameters?: PanelParameters,
  ): Promise<readonly Item[]>;
  /**
   * Calls a function with the objects of a collection now and after each change, until the panel ends or the returned function is
   * called. It resumes after an interruption. Objects have no `managedFields`. Panels and pages that watch the same share one watch.
   */
  watch<Item extends PanelObject = KubeObject>(
    collection: PanelWatched,
    listener: (list: PanelList<Item>) => void,
  ): () => void;
  /** Creates an object. */
  create<Item extends PanelObject = KubeObject>(collection: PanelCollection, object: unknown): Promise<Item>;
  /** Replaces an object: 409 if its `resourceVersion` is not the last one. */
  replace<Item extends PanelObject = KubeObject>(address: PanelAddress, object: unknown): Promise<Item>;
  /** Changes fields of an object, by a merge patch. */
  patch<Item extends PanelObject = KubeObject>(address: PanelAddress, change: unknown): Promise<Item>;
  /** Deletes an object. */
  delete(address: PanelAddress): Promise<void>;
  /**
   * Says whether the user may do something, by a SelfSubjectAccessReview: to disable a button, with the reason beside it. True if the
   * API has no such review, as views that do not serve them. The server authorizes each request whatever this says.
   */
  may(access: PanelAccess): Promise<boolean>;
  /** Sends a request to a path below the URL of the server, and parses the JSON of the response. */
  request<Body = unknown>(path: string, options?: PanelRequest): Promise<Body>;
}

/** Objects of {@link PanelClient.watch}. */
export interface PanelList<Item> {
  /** Sorted by namespace and name. */
  readonly items: readonly Item[];
  /** `loading` has the objects so far; `retrying` and `failed` keep the last ones, and have an error. */
  readonly state: "loading" | "live" | "retrying" | "failed";
  readonly error?: PanelError;
  /** True if `everywhere` was not possible: the objects are those of {@link PanelContext.api}. */
  readonly isPartial?: boolean;
}

/** Error of the server, as its Status says. */
export interface PanelError extends Error {
  /** HTTP status; 0 if the server did not respond. */
  readonly code: number;
  /** Reason of the Status: `Forbidden`. */
  readonly reason: string;
}

/** A page of the console. */
export interface PanelPlace {
  /** Workspace path. @default that of the page */
  readonly workspace?: string;
  /** Name of a virtual workspace: its page, in place of one of a resource. @default none */
  readonly virtualWorkspace?: string;
  /** @default the overview of the workspace */
  readonly resource?: { readonly group: string; readonly version: string; readonly resource: string };
  /** Object of the resource. @default the table of its objects */
  readonly object?: { readonly name: string; readonly namespace?: string };
  /** Part of the page, as in `view` of its address: `yaml`. @default the first one */
  readonly view?: string;
}

/** Parts of the page, as new elements. */
export interface PanelElements {
  /** Returns a list of names and values. An undefined value is left out, with its name. */
  facts(values: Readonly<Record<string, string | PanelElement | undefined>>): PanelElement;
  /** Returns a short state with a background. @param tone `good` is green, `warning` yellow, `failed` red; gray by default */
  badge(text: string, tone?: "good" | "warning" | "failed"): PanelElement;
  /** Returns how long a time is ago, with the time as its title. @param time RFC 3339, as in `metadata.creationTimestamp` */
  time(time: string): PanelElement;
  /** Returns a link to a page of the console. */
  link(text: string, place: PanelPlace): PanelElement;
  /** Returns a URL with buttons that copy it, and a kubeconfig for it without credentials. @param name name of the cluster in the kubeconfig */
  url(url: string, name: string): PanelElement;
  /** Returns a button that copies a text. @param label what the button says */
  copy(label: string, text: string): PanelElement;
}
