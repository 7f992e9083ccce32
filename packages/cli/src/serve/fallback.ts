import { ApiError } from "@virtual-workspaces/apimachinery";
import { type Relay, relay, sameCaller } from "@virtual-workspaces/forwarding";
import { allow, defineVirtualWorkspace, type RawRequest, type VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Flags } from "../flags/flags.ts";
import { contentOf, pathOf } from "../start/files.ts";
import { type ForwardedTo, upstreamAt } from "../start/services.ts";
import { urlOf } from "../start/urls.ts";
import { UsageError } from "../usage.ts";
import { mastersAlone } from "./root.ts";

/** What kcp's own `virtual-workspaces` serves. */
const OF_KCP: readonly string[] = [
  ...["apiexport", "apiresourceschema", "initializingworkspaces"],
  ...["replication", "terminatingworkspaces", "migratingworkspaces"],
];
const FILES = ["fallback-ca-file", "fallback-client-cert-file", "fallback-client-key-file"] as const;

/** Where those of kcp's views are that this server does not have. @throws UsageError */
export function fallbackOf(flags: Flags): ForwardedTo | undefined {
  const url = urlOf(flags, "fallback-url");
  const [ca, certFile, keyFile] = FILES.map((name) => pathOf(flags, name));
  if (url === undefined && flags.given(FILES).length === 0) return undefined;
  if (url === undefined || ca === undefined || certFile === undefined || keyFile === undefined)
    throw new UsageError(`${["fallback-url", ...FILES].map((name) => `--${name}`).join(", ")} go together`);
  contentOf(certFile, FILES[1]);
  contentOf(keyFile, FILES[2]);
  return { url, ca: contentOf(ca, FILES[0]), certFile, keyFile };
}

/**
 * Has those of kcp's views that this server lacks: passed on to a server that has them, a kcp's, as the caller, whom
 * `Impersonate-*` names whole, as a shard does it. Without one they are 404 that says so. Names that are no view of kcp's go
 * nowhere: they are 403, to masters 404, as in kcp.
 */
export function fallbackView(
  served: readonly VirtualWorkspace[],
  { to, onError }: { readonly to: ForwardedTo | undefined; readonly onError: (error: unknown) => void },
): VirtualWorkspace {
  const lacking = new Set(OF_KCP.filter((name) => !served.some((view) => view.name === name)));
  const what = "the server of kcp's other views";
  const passing = to && relay({ upstream: upstreamAt(to), identity: sameCaller, what, onError });
  const having = ({ tail }: RawRequest<unknown>): Relay => {
    const name = firstOf(tail);
    if (!lacking.has(name)) throw ApiError.notFoundPath();
    if (passing === undefined) throw notHere(name);
    return passing;
  };
  return defineVirtualWorkspace({
    name: "fallback",
    prefix: "/services",
    path: "/",
    authorize: (request) => (lacking.has(firstOf(request.path)) ? allow() : mastersAlone(request)),
    handle: (req, res, request) => having(request).handle(req, res, request),
    upgrade: (req, socket, request) => having(request).upgrade(req, socket, request),
    setup: () => passing,
  });
}

function firstOf(path: string): string {
  return path.split("/")[1] ?? "";
}

function notHere(name: string): ApiError {
  const message = `the view ${name} of kcp is not served here: name a server that has it with --fallback-url`;
  return ApiError.notFoundPath(message);
}
