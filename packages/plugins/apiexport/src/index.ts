/**
 * kcp's view of APIExports, as a virtual workspace for any server of this project's.
 *
 * @module
 */

export { apiExportView } from "./api-export-view.ts";
export type { ApiExportViewOptions } from "./options.ts";
