import { useEffect, useState } from "preact/hooks";
import { workspacePath } from "./base.ts";
import { request } from "./client.ts";
import type { ObjectAddress } from "./objects.ts";

interface AccessReview {
  readonly status?: { readonly allowed?: boolean; readonly reason?: string };
}

interface RulesReview {
  readonly status?: {
    readonly incomplete?: boolean;
    readonly resourceRules?: readonly {
      readonly verbs?: readonly string[];
      readonly apiGroups?: readonly string[];
      readonly resources?: readonly string[];
      readonly resourceNames?: readonly string[];
    }[];
  };
}

/** An object or a collection, and what is to be done with it: the attributes of a review. */
interface Access {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Why the server denies the user an access below an API, "" without a reason; undefined if it allows it. Throws a StatusError. */
export async function denialAt(api: string, access: Access, signal: AbortSignal): Promise<string | undefined> {
  const body = {
    ...{ apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview" },
    spec: { resourceAttributes: access },
  };
  const path = `${api}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews`;
  const { status } = await request<AccessReview>(path, { method: "POST", body, signal });
  return status?.allowed === false ? (status.reason ?? "") : undefined;
}

type Verb = "create" | "update" | "delete";

/** Whether the user may do something with an object. True until the server has answered, and if it cannot tell. */
export const useMay = (verb: Verb, address: ObjectAddress | undefined): boolean =>
  useDenial(verb, address) === undefined;

/** Why the user may not do something with an object or its subresource, "" without a reason. Undefined: the user may, or it is not known. */
export function useDenial(verb: Verb, address: ObjectAddress | undefined, subresource = ""): string | undefined {
  const [denial, setDenial] = useState<string>();
  useEffect(() => {
    setDenial(undefined);
    if (address === undefined) return undefined;
    const stop = new AbortController();
    const { group, version, resource } = address.resource;
    const { namespace, name } = address;
    const access = { verb, group, version, resource, subresource, namespace, name };
    denialAt(workspacePath(address.workspace), access, stop.signal).then(setDenial, () => undefined);
    return () => stop.abort();
  }, [verb, address, subresource]);
  return denial;
}

/** Says which resources the user may list in a namespace. True for all if the server does not know all rules. */
export async function listableIn(
  workspace: string,
  namespace: string,
  stop: AbortSignal,
): Promise<(resource: { readonly group: string; readonly resource: string }) => boolean> {
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectRulesReview",
    spec: { namespace: namespace || "default" },
  };
  const options = { method: "POST", body, signal: stop } as const;
  const path = `${workspacePath(workspace)}/apis/authorization.k8s.io/v1/selfsubjectrulesreviews`;
  const review = await request<RulesReview>(path, options).catch(() => undefined);
  const { incomplete = true, resourceRules = [] } = review?.status ?? {};
  if (incomplete) return () => true;
  const has = (values: readonly string[] = [], value: string) => values.includes("*") || values.includes(value);
  return ({ group, resource }) =>
    resourceRules.some(
      (rule) =>
        has(rule.verbs, "list") &&
        has(rule.apiGroups, group) &&
        has(rule.resources, resource) &&
        (rule.resourceNames ?? []).length === 0,
    );
}
