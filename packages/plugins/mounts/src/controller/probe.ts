import type { NoTarget, ProxyTarget } from "@virtual-workspaces/kcp/targets";
import { isTransportError, type TransportErrorCode } from "@virtual-workspaces/transport";
import { RestrictedTarget } from "../dial/restricted-dial.ts";
import type { TargetContext } from "../targets/target-context.ts";
import { none } from "../types/no-target.ts";

/** How long a target may take to say its version, ms. */
const HEAD = 10_000;
/** The longest answer that is read, bytes. */
const LONGEST = 64 * 1024;

/** Where it is, the mount says; at which address that was found, or what listens there, whoever writes mounts is not told. */
const SAID: Partial<Readonly<Record<TransportErrorCode, readonly [string, string]>>> = {
  connect: ["Unreachable", "the target cannot be reached: see that it runs, and that this server may reach it"],
  tls: [
    "Untrusted",
    "the target's certificate cannot be trusted: give ca.crt in the Secret, or certificate-authority-data",
  ],
  timeout: ["Unreachable", "the target did not answer in time"],
};

/**
 * Asks a target for its version, as ourselves: whether it can be reached and trusted, and takes the credential. Any answer of an
 * API server will do, since rules there may keep us from its version.
 *
 * @returns what is wrong; `undefined`: nothing
 * @throws what the signal aborts with
 */
export async function probe(
  { upstream }: Pick<TargetContext, "upstream">,
  { identity }: Pick<ProxyTarget, "identity">,
  signal: AbortSignal,
): Promise<NoTarget | undefined> {
  try {
    const { status } = await upstream.send({ path: "/version", deadlines: { head: HEAD }, limit: LONGEST, signal });
    if (status >= 300 && status < 400)
      return none(
        "Connecting",
        "Redirects",
        "the target answers with a redirect, which is not followed: give the URL that it leads to",
      );
    if (status === 401 && identity !== "None" && identity !== "Caller")
      return none("Connecting", "CredentialRefused", "the target does not take the credential of the Secret: renew it");
    if (status >= 500)
      return none("Connecting", "Failing", `the target answers ${status} when it is asked for its version`);
    return undefined;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const restricted = causeOf(error);
    if (restricted !== undefined) return none("Unknown", "Restricted", restricted.message);
    const [reason, message] = (isTransportError(error) && SAID[error.code]) || FAILED;
    return none("Connecting", reason, message);
  }
}

const FAILED = ["Failing", "the target does not answer as an API server does"] as const;

function causeOf(error: unknown): RestrictedTarget | undefined {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof RestrictedTarget) return one;
  return undefined;
}
