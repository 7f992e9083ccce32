import { relay, sameCaller } from "@virtual-workspaces/forwarding";
import { deriveRequest, type RawRequest, type VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Upstream } from "@virtual-workspaces/transport";
import type { LifecycleParams } from "../waiting.ts";
import type { Content } from "./content.ts";

/** Where the workspaces are. */
export interface ContentRelayOptions {
  readonly upstream: Upstream;
  readonly content: Content;
  readonly onError: (error: unknown) => void;
}

type Handlers = Required<Pick<VirtualWorkspace<LifecycleParams>, "handle" | "upgrade">>;

const CLUSTERS = "/clusters/";

/** Passes requests on to the workspace that they are about, as whom {@link Content.identity} says. */
export function contentRelay({ upstream, content, onError }: ContentRelayOptions): Handlers {
  const { handle, upgrade } = relay({
    upstream,
    identity: sameCaller,
    path: ({ prefix, tail }) => prefix.slice(prefix.lastIndexOf(CLUSTERS)) + tail,
    what: "the server of this workspace",
    onError,
  });
  const asking = async <R extends RawRequest<LifecycleParams>>(request: R): Promise<R> => {
    const user = await content.identity(request.user, request);
    return deriveRequest(request, { user });
  };
  return {
    handle: async (req, res, request) => handle(req, res, await asking(request)),
    upgrade: async (req, socket, request) => upgrade(req, socket, await asking(request)),
  };
}
