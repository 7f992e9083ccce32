import "../../object/object.css";
import "../kcp.css";

export { BindDialog } from "./bind-dialog.tsx";
export { BindInDialog } from "./bind-in-dialog.tsx";
export { ExportDialog } from "./export-dialog.tsx";
export { MountDialog } from "./mount-dialog.tsx";
