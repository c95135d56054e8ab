module github.com/tillwright/tillwright/.github/tools/sbom

go 1.26.0

require github.com/CycloneDX/cyclonedx-go v0.12.0
