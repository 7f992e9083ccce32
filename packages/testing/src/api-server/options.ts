import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { Workspaces } from "@virtual-workspaces/forwarding";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Log } from "@virtual-workspaces/framework/server";
import type { RecordedRequestsOptions } from "./recorded-requests.ts";

/**
 * Objects for a test server: objects, or texts. A text with a line break is YAML or JSON with any number of documents; another
 * one is the path of a file, of a folder with `.yaml`, `.yml` and `.json` files, or a pattern with `*` or `**`, relative to the
 * working directory. A URL is that of a file or folder, as in `new URL("crds/", import.meta.url)`.
 */
export type Manifests = ManifestSource | readonly ManifestSource[];

/** One of {@link Manifests}. */
export type ManifestSource = string | URL | KubeObject;

/** Returns a view over the workspaces, or over the single cluster, of a test server. */
export type ViewOverWorkspaces = (workspaces: Workspaces) => VirtualWorkspace;

/** User of a test server. */
export interface TestUserOptions {
  /** Groups besides `system:authenticated`. Security: `system:masters` may do everything. @default none */
  readonly groups?: readonly string[];
}

/** Options of a test server, which `startTestServer` starts. */
export interface TestServerOptions {
  /** CustomResourceDefinitions. They are established when the server has started, and after each reset. @default none */
  readonly crds?: Manifests;
  /**
   * Objects that exist at the start and after each reset: namespaces first, the others in their order. A `status` is written
   * too, where the kind has that subresource.
   * @default none
   */
  readonly objects?: Manifests;
  /**
   * Users besides `admin`, by name. They may do what roles and bindings among the objects allow.
   * @default only `admin`, a member of `system:masters`
   */
  readonly users?: Readonly<Record<string, TestUserOptions>>;
  /**
   * Whether the server has a tree of workspaces below `/clusters/root`, as kcp, instead of a single cluster at its URL. The
   * content of the server is in `root`, and kubeconfigs lead there. The list contains paths of workspaces to create, parents
   * first, such as `root:org`.
   * @default false
   */
  readonly workspaces?: boolean | readonly string[];
  /**
   * Views that the server also serves, below `/services`. A function gets the server itself, as the function that a file of
   * `virtual-workspaces start --view` exports.
   * @default none
   */
  readonly virtualWorkspaces?: readonly (VirtualWorkspace | ViewOverWorkspaces)[];
  /**
   * Whether to serve HTTPS, with an authority of this server alone. Over plain HTTP `kubectl` and other Go clients send no
   * token, so they are anonymous.
   * @default true
   */
  readonly tls?: boolean;
  /** Recording of requests. @default the last 1000 without bodies */
  readonly requests?: RecordedRequestsOptions;
  /** Time limit for `/readyz` to pass, ms. 0: do not wait, for tests of views that are not ready. @default 10000 */
  readonly readyWithin?: number;
  /** Port on 127.0.0.1. @default any free one */
  readonly port?: number;
  /** Log of the server. @default errors become process warnings */
  readonly log?: Log;
}
