module github.com/tillwright/tillwright/sdk

go 1.26.0

require github.com/oapi-codegen/nullable v1.1.0
