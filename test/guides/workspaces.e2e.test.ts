import { guideTests } from "./support/guide.ts";

guideTests("apiexport", "kubectl-ws", "virtual-storage", "workspace-server");
