import { ApiError, isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import type { PatchOptions } from "@virtual-workspaces/framework";

interface Behind {
  /** Annotations that are not known there. */
  readonly own: readonly string[];
  /** What a version is called there. */
  readonly versionOf: (version: string) => string;
}

/** A patch as the Space is to be sent it: byte for byte, unless it speaks of what is called otherwise here. @throws ApiError 400, 409 */
export function patchBehind({ patch, contentType }: PatchOptions, behind: Behind): Buffer {
  const words = ["resourceVersion", ...behind.own, ...behind.own.map(pointer)];
  if (!words.some((word) => patch.includes(word))) return patch;
  const value = parsed(patch, contentType);
  if (Array.isArray(value)) return Buffer.from(JSON.stringify(operations(value, behind)));
  if (!isJsonObject(value) || !isJsonObject(value["metadata"])) return patch;
  const { metadata, ...rest } = value;
  return Buffer.from(JSON.stringify({ ...rest, metadata: metadataBehind(metadata, behind) }));
}

function parsed(patch: Buffer, contentType: string): unknown {
  try {
    return JSON.parse(patch.toString("utf8"));
  } catch (error) {
    const message = `a patch (${contentType}) of an object in several spaces that speaks of metadata.resourceVersion, or of annotations of this view: send it as JSON, or leave them out`;
    throw new ApiError(ApiError.badRequest(message).status, { cause: error as Error });
  }
}

function metadataBehind(
  { resourceVersion, annotations, ...metadata }: JsonObject,
  { own, versionOf }: Behind,
): JsonObject {
  const kept = isJsonObject(annotations)
    ? Object.fromEntries(Object.entries(annotations).filter(([key]) => !own.includes(key)))
    : annotations;
  return {
    ...metadata,
    ...(kept !== undefined && { annotations: kept }),
    ...(resourceVersion !== undefined && {
      resourceVersion: typeof resourceVersion === "string" ? versionOf(resourceVersion) : resourceVersion,
    }),
  };
}

const VERSION = "/metadata/resourceVersion";

/** Of a JSON Patch. */
function operations(list: readonly unknown[], { own, versionOf }: Behind): readonly unknown[] {
  const hidden = own.map((key) => `/metadata/annotations/${pointer(key)}`);
  return list
    .filter((one) => !isJsonObject(one) || !hidden.includes(String(one["path"])))
    .map((one) => {
      if (!isJsonObject(one) || one["path"] !== VERSION || typeof one["value"] !== "string") return one;
      return { ...one, value: versionOf(one["value"]) };
    });
}

/** As a JSON pointer has it. */
const pointer = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
