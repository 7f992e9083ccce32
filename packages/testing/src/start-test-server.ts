import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import type { TestServerOptions } from "./api-server/options.ts";
import type { TestServer } from "./api-server/test-server.ts";
import { startViewServer, type TestViewServer, type TestViewServerOptions } from "./view-server.ts";

/**
 * Starts an API server in this process, with objects in memory: a Kubernetes cluster without nodes for tests of controllers,
 * command lines and user interfaces, with any client. It has namespaces, ConfigMaps, Secrets, service accounts, Events, Leases,
 * RBAC and custom resources, but no workloads such as Pods. It returns when `/readyz` passes. Security: it listens on 127.0.0.1
 * only, with random tokens.
 *
 * @throws Error on an option that is invalid, a file that cannot be read, an object that the server does not serve, and a view
 *   that is not ready within `readyWithin`
 *
 * @example
 * ```ts
 * import { startTestServer } from "@virtual-workspaces/testing";
 *
 * await using server = await startTestServer({ users: { ann: {} } });
 * console.log(server.url, server.kubeconfigFile);
 * await server.reset();
 * ```
 * @see docs/how-to/test-server.md
 */
export function startTestServer(options?: TestServerOptions): Promise<TestServer>;
/**
 * Serves views alone on a free port of this machine, over plain HTTP, to one user with a token. It returns when `/readyz` passes.
 * Security: every client that can reach the port and knows the token acts as that user, so use it only in tests.
 *
 * @throws the error of a view's `setup`, and Error for views that clash, and for a view that is not ready within `readyWithin`
 */
export function startTestServer(
  virtualWorkspaces: readonly VirtualWorkspace[],
  options?: TestViewServerOptions,
): Promise<TestViewServer>;
export async function startTestServer(
  first: TestServerOptions | readonly VirtualWorkspace[] = {},
  options: TestViewServerOptions = {},
): Promise<TestServer | TestViewServer> {
  if (isViews(first)) return startViewServer(first, options);
  // Loaded on first use: the conformance suite and tests of views need no workspace server.
  const { TestServer } = await import("./api-server/test-server.ts");
  return TestServer.start(first);
}

function isViews(first: TestServerOptions | readonly VirtualWorkspace[]): first is readonly VirtualWorkspace[] {
  return Array.isArray(first);
}
