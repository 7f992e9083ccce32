import type { Asked } from "./cluster-request.ts";
import { denied, next, type Step, type Verdict } from "./verdict.ts";

/** Whose status only the server writes, and, by kcp's slip or wish, only the server reads on its own. */
export const systemCrds: Step = { key: "03-systemcrd", decide };

const STATUS = new Map([
  ["apibindings", "apibinding status updates not permitted"],
  ["apiexports", "apiexport status updates not permitted"],
]);

function decide({ question: { isResource, group, resource, subresource } }: Asked): Verdict {
  const reason = isResource && group === "apis.kcp.io" && subresource === "status" ? STATUS.get(resource) : undefined;
  return reason === undefined ? next("no system CRD violation") : denied(reason);
}
