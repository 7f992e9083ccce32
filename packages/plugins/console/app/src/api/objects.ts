import { type ResourceId, resourcePath, workspacePath } from "./base.ts";
import { request } from "./client.ts";
import type { KubernetesObject } from "./types.ts";

/** Where an object is. An empty namespace means a cluster-scoped one. */
export interface ObjectAddress {
  readonly workspace: string;
  readonly resource: ResourceId;
  readonly namespace: string;
  readonly name: string;
}

/** Path of an object. */
export function objectPath({ workspace, resource, namespace, name }: ObjectAddress): string {
  return `${workspacePath(workspace)}/${resourcePath(resource, { namespace, name })}`;
}

/** Path of the collection that an object is in. */
export function collectionPath({ workspace, resource, namespace }: Omit<ObjectAddress, "name">): string {
  return `${workspacePath(workspace)}/${resourcePath(resource, { namespace })}`;
}

/** Field selector of the object with a name. */
export const nameSelector = (name: string): string => `metadata.name=${name.replaceAll(/[\\,=]/g, "\\$&")}`;

/** Reads an object, with managed fields. Throws a StatusError, as all functions here. */
export function readObject<T extends KubernetesObject>(address: ObjectAddress, signal?: AbortSignal): Promise<T> {
  return request<T>(objectPath(address), signal === undefined ? {} : { signal });
}

export interface WriteOptions {
  /** Media type of the body. Default: JSON; `application/yaml` sends a text as it is. */
  readonly contentType?: string;
  /** Validates without storing. */
  readonly isDryRun?: boolean;
  /** Strict rejects unknown fields. Default: the server's. */
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
}

/** Name of the page in the managed fields of objects. */
export const FIELD_MANAGER = "console";

const optionsOf = ({ contentType, isDryRun, fieldValidation }: WriteOptions) => ({
  parameters: { dryRun: isDryRun === true ? "All" : undefined, fieldValidation, fieldManager: FIELD_MANAGER },
  ...(contentType !== undefined && { contentType }),
});

/** Creates an object in a collection. */
export function createObject<T extends KubernetesObject>(
  at: Omit<ObjectAddress, "name">,
  body: unknown,
  options: WriteOptions = {},
): Promise<T> {
  return request<T>(collectionPath(at), { method: "POST", body, ...optionsOf(options) });
}

/** Replaces an object: 409 if its resourceVersion is no longer the last one. */
export function replaceObject<T extends KubernetesObject>(
  at: ObjectAddress,
  body: unknown,
  options: WriteOptions = {},
): Promise<T> {
  return request<T>(objectPath(at), { method: "PUT", body, ...optionsOf(options) });
}

/** Deletes an object, the one with this uid if it is given. */
export function deleteObject(at: ObjectAddress, uid?: string): Promise<unknown> {
  const body = { kind: "DeleteOptions", apiVersion: "v1", ...(uid !== undefined && { preconditions: { uid } }) };
  return request(objectPath(at), { method: "DELETE", body });
}
