import { guideTests } from "./support/guide.ts";

guideTests("how-to/apiexport", "how-to/kubectl-ws", "how-to/virtual-storage", "how-to/workspace-server");
