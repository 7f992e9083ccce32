import { ApiError } from "@virtual-workspaces/apimachinery";
import { ForeignUpstream, type Relay, relay } from "@virtual-workspaces/forwarding";
import type { RawRequest } from "@virtual-workspaces/framework";
import { causeOfFault, proxy } from "@virtual-workspaces/framework/proxy";
import type { MountIdentity } from "@virtual-workspaces/kcp";
import { type ProxyTarget, requestCredential } from "@virtual-workspaces/kcp/targets";
import type { Dial } from "@virtual-workspaces/transport";

/** Options of {@link TargetContext}. */
export interface TargetContextOptions {
  readonly target: ProxyTarget;
  readonly dial: Dial;
  readonly onError: (error: unknown) => void;
  /** Called after each request that fails because of the target. */
  readonly failed: () => void;
}

type Handlers = Pick<Relay, "handle" | "upgrade">;

const WHAT = "the target of this mount";
/** Identity and headers of requests. Security: `system:masters` is never forwarded to another API server. */
const IDENTITIES: Readonly<
  Record<Exclude<MountIdentity, "Caller">, Pick<Parameters<typeof relay>[0], "identity" | "headers">>
> = {
  Impersonate: { identity: "impersonate", headers: "Impersonate" },
  RequestHeader: { identity: "impersonate", headers: "X-Remote" },
  Fixed: { identity: "none" },
  None: { identity: "none" },
};

/** Connections to a target, and the credential for it. Disposing of it closes all of them. */
export class TargetContext implements AsyncDisposable {
  readonly upstream: ForeignUpstream;
  readonly handle: Handlers["handle"];
  readonly upgrade: Handlers["upgrade"];

  /** @throws Error on an unusable address or certificate */
  constructor({ target, dial, onError, failed }: TargetContextOptions) {
    const { url, ca, serverName, credential, identity } = target;
    const given = credential && requestCredential(credential);
    this.upstream = new ForeignUpstream({
      url,
      tls: { ...(ca !== undefined && { ca }), ...(serverName !== undefined && { serverName }) },
      dial,
      ...(given && { credentials: { get: () => given } }),
      what: "the target of this mount",
      asCaller: identity === "Caller",
    });
    const passing = { upstream: this.upstream, path: ({ tail }: { tail: string }) => tail || "/", what: WHAT, onError };
    const { handle, upgrade } =
      identity === "Caller"
        ? proxy({ ...passing, headers: callersToken, callersCredentials: true })
        : relay({ ...passing, ...IDENTITIES[identity] });
    const noting = async (asking: Promise<void>): Promise<void> => {
      try {
        await asking;
      } catch (error) {
        if (causeOfFault(error) !== undefined) failed();
        throw error;
      }
    };
    this.handle = (...request) => noting(handle(...request));
    this.upgrade = (...request) => noting(upgrade(...request));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.upstream[Symbol.asyncDispose]();
  }
}

/** Returns the caller's token, which the server has stripped, as a header. @throws ApiError 403 without one, or for another identity */
function callersToken({ token }: RawRequest<unknown>): readonly string[] {
  if (token === undefined || /[^\x21-\x7e]/.test(token))
    throw ApiError.forbidden({
      resource: { group: "", resource: "" },
      message: "this mount forwards the caller's own bearer token to its target: send one, without impersonation",
    });
  return ["Authorization", `Bearer ${token}`];
}
