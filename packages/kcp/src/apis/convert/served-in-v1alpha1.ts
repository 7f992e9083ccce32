import { isApiError } from "@virtual-workspaces/apimachinery";
import { type Converted, converted, type WritableSource } from "@virtual-workspaces/framework";
import { type APIBinding, APIBindingV1alpha1 } from "../kinds/api-binding.ts";
import { type APIExport, APIExportV1alpha1 } from "../kinds/api-export.ts";
import type { Holds } from "../kinds/holds.ts";
import { apiBindingToV1alpha1, apiBindingToV1alpha2 } from "./api-binding.ts";
import { apiExportToV1alpha1, apiExportToV1alpha2 } from "./api-export.ts";

/**
 * The same APIExports in v1alpha1: `APIExportV1alpha1.serve(olderApiExports(exports))`. What is written is checked by the
 * rules of v1alpha2 too.
 */
export function olderApiExports(
  exports: WritableSource<Holds<typeof APIExport>>,
): Converted<Holds<typeof APIExport>, Holds<typeof APIExportV1alpha1>> {
  const [read, write] = [apiExportToV1alpha1, apiExportToV1alpha2];
  return converted({ from: exports, to: APIExportV1alpha1, read, write, onError });
}

/**
 * The same APIBindings in v1alpha1: `APIBindingV1alpha1.serve(olderApiBindings(bindings))`. What is written is checked by
 * the rules of v1alpha2 too: the selector of a claim with group and identity does not become another because an annotation
 * was left out.
 */
export function olderApiBindings(
  bindings: WritableSource<Holds<typeof APIBinding>>,
): Converted<Holds<typeof APIBinding>, Holds<typeof APIBindingV1alpha1>> {
  const [read, write] = [apiBindingToV1alpha1, apiBindingToV1alpha2];
  return converted({ from: bindings, to: APIBindingV1alpha1, read, write, onError });
}

/** What a client sent is told to the client; anything else is a fault of ours. */
function onError(error: unknown, object: string): void {
  if (!isApiError(error)) process.emitWarning(`conversion of ${object}: ${String(error)}`);
}
