import { isTransportError, type TransportErrorCode, type Upstream } from "@virtual-workspaces/transport";

/** Error for a forbidden target. Security: its message names the host, never an address. */
export class RestrictedTarget extends Error {}

/** Why a target cannot be used, for a condition. */
export interface TargetProblem {
  /** Reason for programs. */
  readonly reason: "Unreachable" | "Untrusted" | "Restricted" | "Redirects" | "CredentialRefused" | "Failing";
  /**
   * Problem and remedy for people. Security: users who may read the object see it. They have chosen the address, but must not learn
   * what it resolves to or what listens there; the message contains no secret.
   */
  readonly message: string;
}

/** Request of {@link probeTarget}. */
export interface TargetProbe {
  /** Path that every API server has. @default "/version" */
  readonly path?: string;
  /** Whether a 401 is about the credential of the Secret, and not about a caller's. @default false */
  readonly hasCredential?: boolean;
  /** Whether the path must exist: any answer but 200 and 403 is a problem then. @default false */
  readonly mustExist?: boolean;
  /** Time limit of the whole answer, ms. @default 10000 */
  readonly within?: number;
  readonly signal: AbortSignal;
}

/** Maximum size of the answer, bytes. The groups of a server with many kinds are the longest. */
const LONGEST = 1024 * 1024;

const LATE = ["Unreachable", "the target did not answer in time: check that it runs"] as const;

/** Problems without an answer. */
const FAILURES: Partial<Readonly<Record<TransportErrorCode, readonly [TargetProblem["reason"], string]>>> = {
  connect: ["Unreachable", "cannot reach the target: check that it runs, and that this server can connect to it"],
  tls: [
    "Untrusted",
    "cannot verify the target's certificate: set ca.crt in the Secret, or certificate-authority-data in its kubeconfig",
  ],
  timeout: LATE,
};

const FAILED = ["Failing", "the target does not answer like a Kubernetes API server: check its URL"] as const;

/**
 * Sends one request to a target, to check address, certificate and credential. Any answer of an API server counts, since its rules may
 * forbid the path; with `mustExist`, only that of a server that has the path.
 *
 * @returns the problem; `undefined` without one
 * @throws the reason of the signal
 */
export async function probeTarget(
  upstream: Pick<Upstream, "send">,
  options: TargetProbe,
): Promise<TargetProblem | undefined> {
  const { path = "/version", hasCredential = false, mustExist = false, within = 10_000, signal } = options;
  const late = AbortSignal.timeout(within);
  try {
    const { status } = await upstream.send({ path, limit: LONGEST, signal: AbortSignal.any([signal, late]) });
    if (status >= 300 && status < 400)
      return problem(
        "Redirects",
        "the target answers with a redirect, which is not followed: set the URL that it leads to",
      );
    if (status === 401 && hasCredential)
      return problem("CredentialRefused", "the target rejects the credential of the Secret: renew it");
    if (status >= 500) return problem("Failing", `the target answers ${status} to ${path}: check its API server`);
    return !mustExist || status === 200 || status === 403 ? undefined : problem(...FAILED);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (late.aborted) return problem(...LATE);
    const restricted = causeOf(error);
    if (restricted !== undefined) return problem("Restricted", restricted.message);
    return problem(...((isTransportError(error) && FAILURES[error.code]) || FAILED));
  }
}

const problem = (reason: TargetProblem["reason"], message: string): TargetProblem => ({ reason, message });

function causeOf(error: unknown): RestrictedTarget | undefined {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof RestrictedTarget) return one;
  return undefined;
}
