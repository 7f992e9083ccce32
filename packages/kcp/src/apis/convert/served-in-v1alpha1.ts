import { type Converted, converted, type WritableSource } from "@virtual-workspaces/framework";
import { APIBinding, APIBindingV1alpha1 } from "../kinds/api-binding.ts";
import { APIExport, APIExportV1alpha1 } from "../kinds/api-export.ts";
import type { Holds } from "../kinds/holds.ts";
import { apiBindingToV1alpha1, apiBindingToV1alpha2 } from "./api-binding.ts";
import { apiExportToV1alpha1, apiExportToV1alpha2 } from "./api-export.ts";

/** The same APIExports in v1alpha1: `APIExportV1alpha1.serve(olderApiExports(exports))`. */
export function olderApiExports(
  exports: WritableSource<Holds<typeof APIExport>>,
): Converted<Holds<typeof APIExport>, Holds<typeof APIExportV1alpha1>> {
  return converted({ from: exports, to: APIExportV1alpha1, read: apiExportToV1alpha1, write: apiExportToV1alpha2 });
}

/** The same APIBindings in v1alpha1: `APIBindingV1alpha1.serve(olderApiBindings(bindings))`. */
export function olderApiBindings(
  bindings: WritableSource<Holds<typeof APIBinding>>,
): Converted<Holds<typeof APIBinding>, Holds<typeof APIBindingV1alpha1>> {
  return converted({ from: bindings, to: APIBindingV1alpha1, read: apiBindingToV1alpha1, write: apiBindingToV1alpha2 });
}
