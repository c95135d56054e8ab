package core

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMetadata(t *testing.T) {
	t.Parallel()
	m := NewMetadata(map[string]string{"b": "2", "a": "1"})
	require.Equal(t, Metadata(`{"a":"1","b":"2"}`), m)
	require.Equal(t, Metadata(`{"b":"3","c":"4"}`), m.Merge(map[string]*string{"a": nil, "b": new("3"), "c": new("4")}))
	require.Equal(t, Metadata(""), m.Merge(map[string]*string{"a": nil, "b": nil}))
	require.Equal(t, "{}", Metadata("").Text())
	require.Equal(t, map[string]string{}, Metadata("").Map())

	long := make([]byte, MetadataMaxValue+1)
	for i := range long {
		long[i] = 'x'
	}
	for _, bad := range []map[string]string{{"k": string(long)}, {string(long[:MetadataMaxKey+1]): "v"}, {"": "v"}} {
		var p Problems
		NewMetadata(bad).Check(&p)
		require.Error(t, p.Err())
	}
	var p Problems
	NewMetadata(map[string]string{"k": string(long[1:])}).Check(&p)
	require.NoError(t, p.Err())
}
