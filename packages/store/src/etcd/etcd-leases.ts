import { grantedTtl } from "../engine/limits.ts";
import type { Lease } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { verdict } from "./errors.ts";
import type { LeaseKeepAliveResponse } from "./generated/rpc.ts";
import type { Members } from "./members.ts";
import { leaseGrant, leaseKeepAlive, leaseRevoke, leaseTimeToLive } from "./methods.ts";

/** Time for etcd to renew a lease, in ms. */
const RENEW = 5000;

/** Grants a lease. Retried after a lost response, since an unknown lease expires by itself. */
export async function grant(members: Members, ttl: number): Promise<Lease> {
  const { ID, TTL, error } = await members.ask(leaseGrant, { TTL: grantedTtl(ttl) });
  if (error !== "") throw new StoreError("Unavailable", `etcd granted no lease: ${error}`);
  return { id: ID, ttl: TTL };
}

export async function revoke(members: Members, { id }: Lease): Promise<void> {
  await members.ask(leaseRevoke, { ID: checked(id) }, { repeatable: false });
}

/** Returns the remaining time, in seconds. */
export async function remaining(members: Members, id: string): Promise<number> {
  const { TTL } = await members.ask(leaseTimeToLive, { ID: checked(id) });
  if (TTL < 0) throw over(id);
  return TTL;
}

/** Renews a lease: etcd requires a stream, which gets one message. */
export async function renew(members: Members, { id }: Lease): Promise<Lease> {
  checked(id);
  const { TTL } = await once(members, id);
  if (TTL <= 0) throw over(id);
  return { id, ttl: TTL };
}

async function once(members: Members, id: string): Promise<LeaseKeepAliveResponse> {
  const late = AbortSignal.any([members.closed, AbortSignal.timeout(RENEW)]);
  for (let tokens = 0; ; ) {
    if (members.closed.aborted) throw StoreError.closed(members.name);
    const member = members.current;
    try {
      const call = await members.stream(leaseKeepAlive, member);
      const cancel = (): void => call.cancel();
      late.addEventListener("abort", cancel, { once: true });
      return await new Promise<LeaseKeepAliveResponse>((resolve, reject) => {
        call.once("data", resolve).on("error", reject);
        call.once("end", () => reject(new Error("etcd ended the stream")));
        if (late.aborted) cancel();
        else call.write({ ID: id });
      }).finally(() => {
        late.removeEventListener("abort", cancel);
        cancel();
      });
    } catch (error) {
      const found = verdict(error, member.name);
      if (members.closed.aborted) throw StoreError.closed(members.name);
      if (found.is === "final" || late.aborted || (found.is === "token" && tokens++ > 0)) throw found.error;
      if (found.is === "token") members.forgetToken();
      else members.leave(member);
      await members.pause(50);
    }
  }
}

function checked(id: string): string {
  if (!/^-?\d{1,19}$/.test(id) || BigInt.asIntN(64, BigInt(id)) !== BigInt(id)) throw over(id);
  return id;
}

const over = (id: string): StoreError => new StoreError("LeaseNotFound", `lease ${id} has expired or never existed`);
