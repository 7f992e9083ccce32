import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";

/** Combines admissions into one: each sees the object as the previous ones have changed it. */
export function admitInOrder(...hooks: readonly Admit[]): Admit {
  return async (request: AdmitRequest): Promise<KubeObject | undefined> => {
    let changed: KubeObject | undefined;
    for (const hook of hooks) changed = (await hook({ ...request, object: changed ?? request.object })) ?? changed;
    return changed;
  };
}
