module github.com/tillwright/tillwright/.github/tools/quick

go 1.26.0
