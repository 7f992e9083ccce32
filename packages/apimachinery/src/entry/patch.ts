/**
 * JSON patch, merge patch and strategic merge patch.
 *
 * @module
 */

export { applyJsonPatch, unknownJsonPatchFields } from "../patch/json-patch.ts";
export { applyMergePatch } from "../patch/merge-patch.ts";
export { applyStrategicMergePatch } from "../patch/strategic/apply.ts";
export { hasPatchStrategy } from "../patch/strategic/directives.ts";
