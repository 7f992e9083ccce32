module virtual-workspaces.dev/test/space-provider

go 1.26.0
