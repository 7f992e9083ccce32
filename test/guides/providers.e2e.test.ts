import { guideTests } from "./support/guide.ts";

guideTests("how-to/across-spaces", "how-to/database", "how-to/space-providers", "how-to/stores", "how-to/test-a-view");
