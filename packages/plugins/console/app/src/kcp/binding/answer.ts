import { isStatusError } from "../../api/client.ts";
import { type ObjectAddress, readObject, replaceObject } from "../../api/objects.ts";
import { type AnsweredClaim, type ApiBinding, BINDINGS, type Claim, keyOfClaim } from "../kinds.ts";

export type Answer = "Accepted" | "Rejected";

/** A claim of an export as a binding answers it, for all objects of the workspace. */
export function answerTo(claim: Claim, state: Answer, before?: AnsweredClaim): AnsweredClaim {
  const { group = "", resource, identityHash = "", verbs = ["*"] } = claim;
  return {
    ...(group !== "" && { group }),
    resource,
    ...(identityHash !== "" && { identityHash }),
    verbs,
    selector: before?.selector ?? { matchAll: true },
    state,
  };
}

/** Accepts or rejects a claim in a binding. A change that came in between is kept. Throws a StatusError. */
export async function answerInBinding(
  at: { readonly workspace: string; readonly name: string },
  claim: Claim,
  state: Answer,
): Promise<void> {
  const address: ObjectAddress = { ...at, resource: BINDINGS, namespace: "" };
  for (let attempts = 1; ; attempts += 1) {
    const binding = await readObject<ApiBinding>(address);
    const { permissionClaims = [] } = binding.spec ?? {};
    const key = keyOfClaim(claim);
    const before = permissionClaims.find((one) => keyOfClaim(one) === key);
    const answered = answerTo(claim, state, before);
    const claims =
      before === undefined
        ? [...permissionClaims, answered]
        : permissionClaims.map((one) => (one === before ? answered : one));
    try {
      await replaceObject(address, { ...binding, spec: { ...binding.spec, permissionClaims: claims } });
      return;
    } catch (error) {
      if (!isStatusError(error) || error.code !== 409 || attempts === 3) throw error;
    }
  }
}
